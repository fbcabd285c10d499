import { CaseTag, IfTag, type Template, type Token, TypeGuards, UnlessTag, Value } from 'liquidjs'
import { childrenOf } from './parse.ts'

type Path = string[]

export type Reading = {
  /** Every variable that the template reads, without those it makes itself. */
  reads: Path[]
  /** Those that leave a hole when they are absent: neither tested, nor inside a condition, nor given a default. */
  needs: Path[]
}

const constants = ['True', 'False', 'None']

type Filtered = { filters: Pick<Value['filters'][number], 'args'>[] }
type Place = { locals: Set<string>; isConditional: boolean }

export function analyse(templates: Template[]): Reading {
  const found = { reads: new Map<string, Path>(), needs: new Map<string, Path>() }
  const made = new Set(constants)

  const note = (paths: Iterable<Path>, { locals }: Place, isNeeded: boolean) => {
    for (const path of paths) {
      const [root = ''] = path
      if (locals.has(root) || made.has(root)) continue
      found.reads.set(path.join('.'), path)
      if (isNeeded) found.needs.set(path.join('.'), path)
    }
  }

  const visit = (template: Template, place: Place): void => {
    const isCondition =
      template instanceof IfTag || template instanceof UnlessTag || template instanceof CaseTag
    for (const argument of template.arguments?.() ?? []) {
      const isNeeded = !place.isConditional && !isCondition && !hasDefault(argument)
      note(argument instanceof Value ? pathsOfValue(argument) : pathsOf(argument), place, isNeeded)
    }
    for (const name of template.localScope?.() ?? []) made.add(name.content)
    const locals = template.blockScope ? new Set([...place.locals, ...template.blockScope()]) : place.locals
    const inside = { locals, isConditional: place.isConditional || isCondition }
    for (const child of childrenOf(template)) visit(child, inside)
  }

  for (const template of templates) visit(template, { locals: new Set(), isConditional: false })
  return { reads: [...found.reads.values()], needs: [...found.needs.values()] }
}

const hasDefault = (argument: Value | Token) =>
  (argument instanceof Value || TypeGuards.isFilteredValueToken(argument)) &&
  argument.filters.some(({ name }) => name.startsWith('default'))

function* pathsOfValue({ initial, filters }: Pick<Value, 'initial'> & Filtered): Generator<Path> {
  for (const token of initial.postfix) yield* pathsOf(token)
  for (const argument of filters.flatMap(({ args }) => args)) {
    const token = Array.isArray(argument) ? argument[1] : argument
    if (token) yield* pathsOf(token)
  }
}

function* pathsOf(token: Token): Generator<Path> {
  if (TypeGuards.isRangeToken(token)) {
    yield* pathsOf(token.lhs)
    yield* pathsOf(token.rhs)
  } else if (TypeGuards.isFilteredValueToken(token)) {
    yield* pathsOfValue(token)
  } else if (TypeGuards.isPropertyAccessToken(token) && !token.variable) {
    const fixed = token.props.map(staticKey)
    const end = fixed.indexOf(undefined)
    const path = (end < 0 ? fixed : fixed.slice(0, end)).filter((key) => key !== undefined)
    if (path.length > 0) yield path.map(String)
    for (const prop of token.props) if (TypeGuards.isPropertyAccessToken(prop)) yield* pathsOf(prop)
  }
}

/** The name in a path, where it is written out; nothing where it is itself read from a variable. */
export function staticKey(prop: Token): string | number | undefined {
  const isStatic =
    TypeGuards.isWordToken(prop) || TypeGuards.isQuotedToken(prop) || TypeGuards.isNumberToken(prop)
  return isStatic ? prop.content : undefined
}
