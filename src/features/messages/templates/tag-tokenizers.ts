import { type Liquid, Output, type TagToken, type Token, Tokenizer, Value, type ValueToken } from 'liquidjs'
import { ExpressionTokenizer, type Operators, WholeTokenizer } from './expressions.ts'
import { templateFault } from './fault.ts'

/** Lets the tags whose arguments the library reads otherwise read them as the provider's language does. */
export function readAsDialect(token: TagToken, operators: Operators): void {
  const kind = Object.hasOwn(tokenizers, token.name) ? tokenizers[token.name] : undefined
  if (kind) token.tokenizer = kind.ofTag(token, operators)
}

export const loopSettings = ['sorted', 'reversed', 'limit', 'offset']

const settingBehind = /^,\s*(?:(?:sorted|reversed)(?![\w-])|(?:limit|offset)\s*:)/

export class LoopTokenizer extends ExpressionTokenizer {
  /** Of `for key, value in …` those behind the first. */
  readonly moreNames: string[] = []
  private isNamed = false
  private isRead = false

  override readIdentifier(): ReturnType<Tokenizer['readIdentifier']> {
    const name = super.readIdentifier()
    if (this.isNamed) return name
    this.isNamed = true
    while (this.isAtArgument(',')) {
      this.advance()
      this.moreNames.push(super.readIdentifier().content)
    }
    return name
  }

  /** The first value is the collection; its own parts and the settings of the loop are values too. */
  override readValue(): ValueToken | undefined {
    if (this.isRead) return super.readValue()
    this.isRead = true
    return this.readOperand()
  }

  protected override isAtArgument(sign: string): boolean {
    return super.isAtArgument(sign) && !settingBehind.test(this.remaining())
  }
}

/** The values of a cycle stand apart by spaces, or by commas as in the library's language. */
class CycleTokenizer extends ExpressionTokenizer {
  protected override *readOutermost(): IterableIterator<Token> {
    const value = this.readOperand()
    if (value?.getText() === 'as') throw templateFault('A cycle cannot be given a name.')
    if (value) yield value
  }

  override readTo(end: string): number {
    if (end !== ',') return super.readTo(end)
    this.skipBlank()
    if (this.peek() === end) this.advance()
    return this.p
  }
}

type OutputToken = ConstructorParameters<typeof Output>[0]

const tokenizers: Record<string, typeof ExpressionTokenizer> = {
  if: WholeTokenizer,
  elsif: WholeTokenizer,
  unless: WholeTokenizer,
  case: WholeTokenizer,
  assign: WholeTokenizer,
  echo: WholeTokenizer,
  for: LoopTokenizer,
  cycle: CycleTokenizer,
}

/** An output of the library, whose value was read as the provider's language has it. */
export function outputOf(token: OutputToken, liquid: Liquid): Output {
  const { operators } = liquid.options
  const [blank] = new Tokenizer('{{0}}', operators).readTopLevelTokens(liquid.options)
  const output = new Output(blank as OutputToken, liquid)
  const value = new Value(
    new WholeTokenizer(token.input, operators, token.contentRange).readFilteredValue(),
    liquid,
  )
  // It brings the escaping along.
  if (value.filters.at(-1)?.raw !== true) value.filters.push(...output.value.filters)
  return Object.assign(output, { token, value })
}
