import { defaultOperators, type Operators, type Token, TypeGuards, toValue } from 'liquidjs'
import { calculated, compared, sumOf } from './arithmetic.ts'
import { isTrue, printed, sizeOf } from './values.ts'
import { countWork } from './work.ts'

const isNothing = (value: unknown) => value === null || value === undefined

// Null and absent are the same to a template; the library holds them apart.
const eachNothing = (left: unknown, right: unknown) => isNothing(left) && isNothing(right)

type Binary = (left: unknown, right: unknown, context: never) => ReturnType<Operators[string]>

const library = (name: string) => defaultOperators[name] as Binary

/** Of a list an entry, of an object a name, of a text a piece. */
function* isIn(part: unknown, whole: unknown, context: unknown): Generator<unknown, boolean, boolean> {
  const [within, sought] = [toValue(whole), toValue(part)]
  if (typeof within === 'string') return !isNothing(sought) && within.includes(printed(sought))
  if (typeof within !== 'object' || within === null) return false
  countWork(sizeOf(within))
  return Array.isArray(within)
    ? yield library('contains')(within, part, context as never)
    : Object.hasOwn(within, printed(sought))
}

// The library's types know operators that answer yes or no only; it hands on whatever they give.
const calculations = {
  '+': sumOf,
  '-': calculated((one, other) => one - other),
  '*': calculated((one, other) => one * other),
  '/': calculated((one, other) => one / other),
  '%': calculated((one, other) => one % other),
} as Record<string, unknown> as Operators

export const operators: Operators = {
  ...defaultOperators,
  '==': (left, right, context) => eachNothing(left, right) || library('==')(left, right, context as never),
  '!=': (left, right, context) => !eachNothing(left, right) && library('!=')(left, right, context as never),
  '<': (left: unknown, right: unknown) => compared(left, right) < 0,
  '>': (left: unknown, right: unknown) => compared(left, right) > 0,
  '<=': (left: unknown, right: unknown) => compared(left, right) <= 0,
  '>=': (left: unknown, right: unknown) => compared(left, right) >= 0,
  ...calculations,
  in: isIn,
  *'not in'(part, whole, context) {
    return !(yield* isIn(part, whole, context))
  },
  contains: (whole, part, context) => isIn(part, whole, context),
  not: (value: unknown) => !isTrue(toValue(value)),
  and: (left: unknown, right: unknown) => isTrue(left) && isTrue(right),
  or: (left: unknown, right: unknown) => isTrue(left) || isTrue(right),
}

const comparison = 3
const strength: Record<string, number> = { or: 0, and: 1, not: 2, '+': 4, '-': 4, '*': 5, '/': 5, '%': 5 }

const strengthOf = (operator: string) => strength[operator] ?? comparison

/** The library reads `{{ first name }}` as `first`; an expression must come to exactly one value. */
export function isWhole(postfix: Token[]): boolean {
  const found = postfix.filter(TypeGuards.isOperatorToken)
  const joining = found.filter(({ operator }) => operator !== 'not').length
  return postfix.length - found.length - joining === 1
}

/**
 * Puts an expression's tokens, given in the library's order, into the order of the provider's language: `and` binds
 * stronger than `or`, and arithmetic stronger than comparisons. The library reads both from right to left.
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
