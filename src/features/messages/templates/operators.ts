import { defaultOperators, type Operators, type Token, TypeGuards, toValue } from 'liquidjs'
import { isTrue } from './values.ts'

const isNothing = (value: unknown) => value === null || value === undefined

// Null and absent are the same to a template; the library holds them apart.
const eachNothing = (left: unknown, right: unknown) => isNothing(left) && isNothing(right)

type Binary = (left: unknown, right: unknown, context: never) => ReturnType<Operators[string]>

const library = (name: string) => defaultOperators[name] as Binary

export const operators: Operators = {
  ...defaultOperators,
  '==': (left, right, context) => eachNothing(left, right) || library('==')(left, right, context as never),
  '!=': (left, right, context) => !eachNothing(left, right) && library('!=')(left, right, context as never),
  in: (left, right, context) => library('contains')(right, left, context as never),
  not: (value: unknown) => !isTrue(toValue(value)),
  and: (left: unknown, right: unknown) => isTrue(left) && isTrue(right),
  or: (left: unknown, right: unknown) => isTrue(left) || isTrue(right),
}

const strength: Record<string, number> = { or: 0, and: 1, not: 2 }
const comparison = 3

const strengthOf = (operator: string) => strength[operator] ?? comparison

/** The library reads `{{ first name }}` as `first`; an expression must come to exactly one value. */
export function isWhole(postfix: Token[]): boolean {
  const found = postfix.filter(TypeGuards.isOperatorToken)
  const joining = found.filter(({ operator }) => operator !== 'not').length
  return postfix.length - found.length - joining === 1
}

/**
 * Puts an expression's tokens, given in the library's order, into the order of the provider's language: `and` binds
 * stronger than `or`. The library reads both from right to left.
 */
export function reorder(postfix: Token[]): void {
  if (postfix.length < 4) return
  const infix = postfix.splice(0).sort((one, other) => one.begin - other.begin)
  const waiting: { token: Token; operator: string }[] = []
  for (const token of infix) {
    if (!TypeGuards.isOperatorToken(token)) postfix.push(token)
    else {
      while (token.operator !== 'not' && goesFirst(waiting.at(-1)?.operator, token.operator))
        postfix.push(...waiting.splice(-1).map((each) => each.token))
      waiting.push({ token, operator: token.operator })
    }
  }
  postfix.push(...waiting.reverse().map(({ token }) => token))
}

const goesFirst = (waiting: string | undefined, next: string) =>
  waiting !== undefined && strengthOf(waiting) >= strengthOf(next)
