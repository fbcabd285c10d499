import { type Liquid, Tokenizer, type TopLevelToken } from 'liquidjs'
import { withoutEntities } from './entities.ts'

export function tokenize({ options }: Liquid, source: string): TopLevelToken[] {
  return new DialectTokenizer(withoutEntities(source), options.operators).readTopLevelTokens(options)
}

const none = Number.POSITIVE_INFINITY

/**
 * Leaves out `{# comments #}`. They end on their line, so that an opening of style sheets or scripts is text. A class,
 * because the library's is one.
 */
class DialectTokenizer extends Tokenizer {
  // Each is looked for once and kept until it is passed: otherwise every opening would look through all the rest.
  private readonly found: Record<string, number> = {}
  private comment = { begin: -1, end: -1 }

  override readHTMLToken(stops: string[]): ReturnType<Tokenizer['readHTMLToken']> {
    while (this.nextComment().begin === this.p) this.p = this.comment.end
    const whole = this.N
    this.N = Math.min(whole, this.comment.begin)
    const token = super.readHTMLToken(stops)
    this.N = whole
    return token
  }

  private nextComment() {
    if (this.comment.begin >= this.p) return this.comment
    let begin = this.next('{#', this.p)
    while (begin < none && this.next('#}', begin + 2) >= this.next('\n', begin))
      begin = this.next('{#', begin + 2)
    this.comment = { begin, end: begin === none ? none : this.next('#}', begin + 2) + 2 }
    return this.comment
  }

  private next(text: string, from: number): number {
    const known = this.found[text]
    if (known !== undefined && known >= from) return known
    const at = this.input.indexOf(text, from)
    this.found[text] = at < 0 ? none : at
    return this.found[text]
  }
}
