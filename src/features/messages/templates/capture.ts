import { type Context, CaptureTag as LibraryTag } from 'liquidjs'
import { Finished, printed } from './values.ts'

/** `{% capture %}`, whose text has been escaped piece by piece. A class, because the library wants its tags so. */
export class CaptureTag extends LibraryTag {
  /** Not so where escaping is off: then it is escaped when it is printed, like any value. */
  isEscaped = false

  override *render(context: Context): Generator<unknown, void, string> {
    yield* super.render(context)
    const scope = context.bottom()
    if (this.isEscaped) Object.assign(scope, { [this.variable]: new Finished(printed(scope[this.variable])) })
  }
}
