import {
  type Context,
  type Emitter,
  type FilteredValueToken,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type TopLevelToken,
  Value,
} from 'liquidjs'
import { templateFault } from './fault.ts'
import { isCalledSafe } from './safe.ts'
import { Finished, printed } from './values.ts'

type Assignment = { name: string; value: Value }

/** `{% with a=params.b c=2 %}…{% endwith %}`. A class, because the library wants its block tags so. */
export class WithTag extends Tag {
  private readonly assignments: Assignment[]
  private readonly templates: Template[] = []

  constructor(token: TagToken, remaining: TopLevelToken[], liquid: Liquid, parser: Parser) {
    super(token, remaining, liquid)
    this.assignments = [...this.readAssignments(liquid)]
    const stream = parser
      .parseStream(remaining)
      .on('tag:endwith', () => stream.stop())
      .on('template', (template: Template) => this.templates.push(template))
      .on('end', () => {
        throw new Error(`tag ${token.getText()} not closed`)
      })
    stream.start()
  }

  *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    const scope: Record<string, unknown> = Object.create(null)
    for (const { name, value } of this.assignments) {
      const found = yield value.value(context, false)
      const isFinished = isCalledSafe(value.filters) && typeof found === 'string'
      scope[name] = isFinished ? new Finished(printed(found)) : found
    }
    context.push(scope)
    yield this.liquid.renderer.renderTemplates(this.templates, context, emitter)
    context.pop()
  }

  *arguments(): Generator<Value> {
    for (const { value } of this.assignments) yield value
  }

  blockScope(): Iterable<string> {
    return this.assignments.map(({ name }) => name)
  }

  // biome-ignore lint/correctness/useYield: the library asks for a generator
  *children(): Generator<unknown, Template[]> {
    return this.templates
  }

  /** `name=value`, any number of them, or `value as name`. */
  private *readAssignments(liquid: Liquid): Generator<Assignment> {
    const reader = this.tokenizer
    while (!reader.end()) {
      const begin = reader.p
      const name = reader.readIdentifier().content
      reader.skipBlank()
      const isNamed = name !== '' && reader.peek() === '=' && reader.peek(1) !== '='
      reader.p = isNamed ? reader.p + 1 : begin
      const value = new Value(reader.readFilteredValue() as FilteredValueToken, liquid)
      yield { name: isNamed ? name : this.readName(), value }
      reader.skipBlank()
    }
  }

  private readName(): string {
    const isNamed = this.tokenizer.readIdentifier().content === 'as'
    const name = this.tokenizer.readIdentifier().content
    if (isNamed && name) return name
    throw templateFault('The tag with is followed by a name, "=" and a value.')
  }
}
