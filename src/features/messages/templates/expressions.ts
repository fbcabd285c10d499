import {
  Expression,
  type FilteredValueToken,
  type Liquid,
  type TagToken,
  type Token,
  Tokenizer,
  TypeGuards,
  type ValueToken,
} from 'liquidjs'
import { templateFault } from './fault.ts'
import { countValue, type FilterToken, filterToken, operatorToken, valueToken, zeroToken } from './tokens.ts'

// The library takes filters at the end of a whole expression only, and knows neither brackets nor arithmetic. In the
// provider's language filters belong to the value before them. Classes, because the library's is one.

export type Operators = Liquid['options']['operators']

/** What is written between two values, and the operator that is meant. */
const meanings: Record<string, string> = { '<>': '!=', '&&': 'and', '||': 'or', is: '==', 'is not': '!=' }

const between =
  /[=!<>]=|<>|[<>]|&&|\|\||[-+*/%]|(?:and|or|contains|in|not\s+in|is\s+not|is)(?![\w\u0080-\uffff-])/y
const negation = /not(?![\w\u0080-\uffff-])/y
const prefixed = /!(?!=)|-(?![\d.])/y
const beforeMinus = /[-+]?\d+(?:\.\d+)?(?=-)/y
// Looked for in the whole source, so that its length must be bounded.
const range = /\(\s{0,9}[^()|"'\s]{1,200}?\s{0,9}\.\./y
const deepest = 50

export class ExpressionTokenizer extends Tokenizer {
  protected readonly operators: Operators
  private depth = 0

  constructor(input: string, operators: Operators, bounds: [number, number]) {
    super(input, operators, undefined, bounds)
    this.operators = operators
  }

  static ofTag({ input, tokenizer }: TagToken, operators: Operators): ExpressionTokenizer {
    return new this(input, operators, [tokenizer.p, tokenizer.N])
  }

  override readFilteredValue(): FilteredValueToken {
    const begin = this.p
    const tokens = [...this.readOutermost()]
    const [only, ...more] = tokens
    this.assert(only, `invalid value expression: ${this.snapshot()}`)
    const isRead = more.length === 0 && TypeGuards.isFilteredValueToken(only) && only.filters.length > 0
    return isRead ? only : this.madeOf(begin, new Expression(tokens))
  }

  /** What belongs to one value outside of brackets. */
  protected readOutermost(): Iterable<Token> {
    return this.readExpressionTokens()
  }

  override *readExpressionTokens(): IterableIterator<Token> {
    while (true) {
      yield* this.readNegations()
      const operand = this.readOperand()
      if (!operand) return
      yield operand
      const operator = this.readBetween()
      if (!operator) return
      yield operator
    }
  }

  /** A value with its filters. */
  protected readOperand(): ValueToken | undefined {
    this.skipBlank()
    countValue()
    const begin = this.p
    const value = this.readPrefixed() ?? this.readValue()
    this.skipBlank()
    if (!value || !this.isAtFilter()) return value
    const filters = this.readFilters()
    return this.madeOf(begin, new Expression([value]), filters)
  }

  override readFilter(): ReturnType<Tokenizer['readFilter']> {
    this.skipBlank()
    if (!this.isAtFilter()) return null
    this.advance()
    const name = this.readIdentifier()
    this.assert(name.size(), 'expected filter name')
    countValue()
    const args: FilterToken['args'] = []
    if (this.isAtArgument(':'))
      do {
        this.advance()
        const argument = this.readFilterArg()
        countValue()
        if (argument) args.push(argument)
      } while (this.isAtArgument(','))
    return filterToken(name.getText(), args, this.placeFrom(name.begin))
  }

  /** Whether an argument of a filter follows behind the sign. */
  protected isAtArgument(sign: string): boolean {
    this.skipBlank()
    return this.peek() === sign
  }

  /** The library takes the sign for a part of a name. */
  override readNumber(): ReturnType<Tokenizer['readNumber']> {
    const end = this.endOf(beforeMinus)
    if (end < 0) return super.readNumber()
    const whole = this.N
    this.N = end
    const number = super.readNumber()
    this.N = whole
    return number
  }

  // biome-ignore lint/suspicious/noExplicitAny: what the library returns is nowhere exported
  override readGroupOrRange(): any {
    range.lastIndex = this.p
    if (this.peek() !== '(' || range.test(this.input)) return super.readGroupOrRange()
    const begin = this.p
    this.advance()
    const tokens = this.deeper(() => [...this.readExpressionTokens()])
    this.skipBlank()
    if (tokens.length === 0 || this.read() !== ')') throw templateFault('A bracket is not closed.')
    return this.madeOf(begin, new Expression(tokens))
  }

  /** `not` speaks of a whole comparison. */
  private *readNegations(): IterableIterator<Token> {
    for (let end = this.endOf(negation); end >= 0; end = this.endOf(negation))
      yield this.operatorTo(end, 'not')
  }

  /** `!` and `-` speak of the value behind them. */
  private readPrefixed(): FilteredValueToken | undefined {
    const begin = this.p
    const end = this.endOf(prefixed)
    if (end < 0) return undefined
    const isMinus = this.peek() === '-'
    const operator = this.operatorTo(end, isMinus ? '-' : 'not')
    const value = this.deeper(() => this.readPrefixed() ?? this.readValue())
    if (!value) throw templateFault(`A value is missing behind "${this.input.slice(begin, end)}".`)
    const negated = this.madeOf(begin, new Expression([]))
    negated.initial.postfix.push(...(isMinus ? [zeroToken] : []), value, operator)
    return negated
  }

  private readBetween(): Token | undefined {
    const end = this.endOf(between)
    if (end < 0) return undefined
    const written = this.input.slice(this.p, end).replace(/\s+/g, ' ')
    return this.operatorTo(end, meanings[written] ?? written)
  }

  private endOf(pattern: RegExp): number {
    this.skipBlank()
    pattern.lastIndex = this.p
    const found = pattern.exec(this.input)
    const end = this.p + (found?.[0].length ?? 0)
    return found && end <= this.N ? end : -1
  }

  protected operatorTo(end: number, operator: string): Token {
    const begin = this.p
    this.p = end
    return operatorToken(operator, this.placeFrom(begin))
  }

  protected madeOf(begin: number, initial: Expression, filters: FilterToken[] = []): FilteredValueToken {
    return valueToken(initial, filters, this.placeFrom(begin))
  }

  private placeFrom(begin: number) {
    return { input: this.input, begin, end: this.p }
  }

  private isAtFilter(): boolean {
    return this.peek() === '|' && this.peek(1) !== '|'
  }

  private deeper<T>(read: () => T): T {
    if (++this.depth > deepest) throw templateFault('Brackets are nested too deeply.')
    const found = read()
    this.depth--
    return found
  }
}

/** Where nothing may follow the expression. */
export class WholeTokenizer extends ExpressionTokenizer {
  override readFilteredValue(): FilteredValueToken {
    const value = super.readFilteredValue()
    this.skipBlank()
    if (this.end()) return value
    if (/^=(?!=)/.test(this.remaining())) throw templateFault('Values are compared with "==".')
    throw templateFault('An expression is malformed.')
  }
}
