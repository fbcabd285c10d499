import {
  type Context,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
} from 'liquidjs'
import { templateFault } from './fault.ts'

const words: Record<string, boolean> = { on: true, true: true, off: false, false: false }

/** `{% autoescape off %}…{% endautoescape %}`. A class, because the library wants its block tags so. */
export class AutoescapeTag extends Tag {
  readonly isEscaped: boolean
  private readonly templates: Template[] = []

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid)
    this.isEscaped = isEscapedAfter(token.args)
    const stream = parser
      .parseStream(remaining)
      .on('tag:endautoescape', () => stream.stop())
      .on('template', (template: Template) => this.templates.push(template))
      .on('end', () => {
        throw new Error(`tag ${token.getText()} not closed`)
      })
    stream.start()
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
  }

  // biome-ignore lint/correctness/useYield: the library asks for a generator
  *children(): Generator<unknown, Template[]> {
    return this.templates
  }
}

function isEscapedAfter(word: string): boolean {
  const asked = word.trim().toLowerCase()
  const isEscaped = Object.hasOwn(words, asked) ? words[asked] : undefined
  if (isEscaped === undefined) throw templateFault('The tag autoescape is followed by on or off.')
  return isEscaped
}
