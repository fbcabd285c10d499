import { type Context, type Emitter, EchoTag as LibraryTag, Value } from 'liquidjs'

/** `{% echo %}`. The library's own escapes finished text once more. A class, because the library wants its tags so. */
export class EchoTag extends LibraryTag {
  override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const [value] = this.arguments()
    if (!(value instanceof Value)) return
    const found = yield value.value(context, false)
    const isFinished = value.filters.at(-1)?.raw === true
    emitter.write(isFinished ? found : this.liquid.options.outputEscape?.call(context as never, found))
  }
}
