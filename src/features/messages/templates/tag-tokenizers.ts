import {
  Expression,
  type FilteredValueToken,
  type Liquid,
  Output,
  type TagToken,
  type Token,
  Tokenizer,
  Value,
  type ValueToken,
} from 'liquidjs'
import { ExpressionTokenizer, type Operators, WholeTokenizer } from './expressions.ts'
import { templateFault } from './fault.ts'
import { filterToken } from './tokens.ts'

// The provider's word for a tag that the library knows by another name.
const tagNames: Record<string, string> = {
  elif: 'elsif',
  empty: 'else',
  set: 'assign',
  firstof: 'echo',
  now: 'echo',
  ifequal: 'if',
  ifnotequal: 'if',
  endifequal: 'endif',
  endifnotequal: 'endif',
}

const [emptyToken] = new Tokenizer('""').readFilteredValue().initial.postfix as [ValueToken]
const [timeToken] = new Tokenizer('time_now').readFilteredValue().initial.postfix as [ValueToken]

/** Lets the tags whose arguments the library reads otherwise read them as the provider's language does. */
export function readAsDialect(token: TagToken, operators: Operators): void {
  const written = token.name
  if (Object.hasOwn(tagNames, written)) token.name = tagNames[written] ?? written
  const kind = [written, token.name].find((name) => Object.hasOwn(tokenizers, name))
  if (kind) token.tokenizer = (tokenizers[kind] ?? ExpressionTokenizer).ofTag(token, operators)
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

/** `firstof a b "c"` prints the first that is true. */
class FirstTokenizer extends ExpressionTokenizer {
  override readFilteredValue(): FilteredValueToken {
    const begin = this.p
    const values: ValueToken[] = []
    for (let value = this.readOperand(); value; value = this.readOperand()) values.push(value)
    this.skipBlank()
    if (!this.end()) throw templateFault('The tag firstof is followed by values.')
    const [first, ...others] = [...values, emptyToken]
    const filters = others.map((value) => filterToken('default', [value]))
    return this.madeOf(begin, new Expression(first ? [first] : []), filters)
  }
}

/** `now "d/m/Y"` prints the moment of the rendering. */
class NowTokenizer extends ExpressionTokenizer {
  override readFilteredValue(): FilteredValueToken {
    const begin = this.p
    const format = this.readOperand()
    this.skipBlank()
    if (!format || !this.end()) throw templateFault('The tag now is followed by the format of a date.')
    return this.madeOf(begin, new Expression([timeToken]), [filterToken('date', [format])])
  }
}

/** `ifequal a b` is a comparison of two values. */
class EqualTokenizer extends ExpressionTokenizer {
  protected readonly operator: string = '=='

  override readFilteredValue(): FilteredValueToken {
    const begin = this.p
    const [one, other] = [this.readOperand(), this.readOperand()]
    this.skipBlank()
    if (!one || !other || !this.end())
      throw templateFault('The tags ifequal and ifnotequal are followed by two values.')
    const compared = this.madeOf(begin, new Expression([]))
    compared.initial.postfix.push(one, other, this.operatorTo(this.p, this.operator))
    return compared
  }
}

class UnequalTokenizer extends EqualTokenizer {
  protected override readonly operator = '!='
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
  with: ExpressionTokenizer,
  firstof: FirstTokenizer,
  now: NowTokenizer,
  ifequal: EqualTokenizer,
  ifnotequal: UnequalTokenizer,
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
