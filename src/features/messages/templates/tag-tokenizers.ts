import { type Liquid, type TagToken, type Token, Tokenizer, type ValueToken } from 'liquidjs'
import { templateFault } from './fault.ts'

// The library takes filters at the end of a whole condition only, and in a loop it drops them without a word. In the
// provider's language they belong to the value before them. Classes, because the library's is one.

const quoted = String.raw`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`
const endInCondition = new RegExp(
  String.raw`${quoted}|(?<=\s)(?:and|or|not|in|contains)(?![\w-])|[=!<>]`,
  'gs',
)
const endInLoop = new RegExp(String.raw`${quoted}|(?<=\s)(?:reversed(?![\w-])|(?:limit|offset)\s*:)`, 'gs')

type Operators = Liquid['options']['operators']

/** Lets the tags whose arguments the library reads otherwise read them as the provider's language does. */
export function readAsDialect(token: TagToken, operators: Operators): void {
  const kind = Object.hasOwn(tokenizers, token.name) ? tokenizers[token.name] : undefined
  if (kind) token.tokenizer = new kind(token, operators)
}

abstract class TagTokenizer extends Tokenizer {
  private readonly operators: Operators

  constructor({ input, tokenizer }: TagToken, operators: Operators) {
    super(input, operators, undefined, [tokenizer.p, tokenizer.N])
    this.operators = operators
  }

  protected withFilters(begin: number, value: ValueToken | undefined, ends: RegExp): ValueToken | undefined {
    this.skipBlank()
    if (!value || this.peek() !== '|') return value
    const end = this.p + lengthOfFilters(this.remaining(), ends)
    this.p = end
    return new Tokenizer(this.input, this.operators, undefined, [begin, end]).readFilteredValue() as never
  }
}

function lengthOfFilters(text: string, ends: RegExp): number {
  for (const { 0: found, index } of text.matchAll(ends)) if (!/^["']/.test(found)) return index
  return text.length
}

class ConditionTokenizer extends TagTokenizer {
  override *readExpressionTokens(): IterableIterator<Token> {
    while (!this.end()) {
      const token = this.readOperator() ?? this.withFilters(this.p, this.readValue(), endInCondition)
      if (!token) return
      yield token
    }
  }
}

class LoopTokenizer extends TagTokenizer {
  private isRead = false

  /** The first value is the collection; its own parts and the settings of the loop are values too. */
  override readValue(): ValueToken | undefined {
    if (this.isRead) return super.readValue()
    this.isRead = true
    return this.withFilters(this.p, super.readValue(), endInLoop)
  }
}

/** The values of a cycle stand apart by spaces, or by commas as in the library's language. */
class CycleTokenizer extends TagTokenizer {
  override *readExpressionTokens(): IterableIterator<Token> {
    const value = this.readValue()
    if (value?.getText() === 'as') throw templateFault('A cycle cannot be given a name.')
    if (value) yield value
  }

  override readFilters(): ReturnType<Tokenizer['readFilters']> {
    this.skipBlank()
    return this.peek() === '|' ? super.readFilters() : []
  }

  override readTo(end: string): number {
    if (end !== ',') return super.readTo(end)
    this.skipBlank()
    if (this.peek() === end) this.advance()
    return this.p
  }
}

const tokenizers: Record<string, new (token: TagToken, operators: Operators) => Tokenizer> = {
  if: ConditionTokenizer,
  elsif: ConditionTokenizer,
  unless: ConditionTokenizer,
  for: LoopTokenizer,
  cycle: CycleTokenizer,
}
