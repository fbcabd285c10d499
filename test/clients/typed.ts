// What a client's types promise, held against what the service answered.
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import type { Client, Loose } from './clients.ts'

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url))

/** The faults of an answer: what a typed program would stumble over. */
export function typesOf({ types, typePath }: Client): (method: string, answer: Loose) => string[] {
  if (!types || !typePath) return () => []
  const file = modules + types
  const program = ts.createProgram([file], { skipLibCheck: true, strict: true, types: [], noEmit: true })
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(file)
  const home = source && checker.getSymbolAtLocation(source)
  if (!home) throw new Error(`no types in ${file}`)
  const exported = new Map(checker.getExportsOfModule(home).map((one) => [one.name, one]))
  return (method, answer) => {
    const { named, through, body } = typePath(method)
    const symbol = exported.get(named)
    if (!symbol) throw new Error(`${named} is not exported`)
    const promised = givenBy(checker, checker.getDeclaredTypeOfSymbol(original(checker, symbol)), through)
    return faultsOf(checker, body ? memberOf(checker, promised, 'body') : promised, answer, 'answer')
  }
}

const original = (checker: ts.TypeChecker, symbol: ts.Symbol) =>
  symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol

function memberOf(checker: ts.TypeChecker, type: ts.Type, name: string): ts.Type {
  const member = type.getProperty(name)
  if (!member) throw new Error(`${checker.typeToString(type)} has no ${name}`)
  return checker.getTypeOfSymbol(member)
}

function givenBy(checker: ts.TypeChecker, start: ts.Type, through: string[]): ts.Type {
  const method = through.reduce((type, name) => memberOf(checker, type, name), start)
  const [signature] = method.getCallSignatures()
  const given = signature && checker.getAwaitedType(signature.getReturnType())
  if (!given) throw new Error(`${through.join('.')} gives nothing`)
  return given
}

const { TypeFlags } = ts

function faultsOf(checker: ts.TypeChecker, type: ts.Type, value: Loose, at: string): string[] {
  const wrong = (isRight: boolean) =>
    isRight ? [] : [`${at} is ${JSON.stringify(value)}, not ${checker.typeToString(type)}`]
  if (type.flags & (TypeFlags.Any | TypeFlags.Unknown | TypeFlags.Void)) return []
  // The older clients declare words as enums without values.
  if (type.flags & TypeFlags.EnumLike) return wrong(typeof value === 'string' || typeof value === 'number')
  if (type.isUnion()) {
    const isNothing = (one: ts.Type) => (one.flags & (TypeFlags.Undefined | TypeFlags.Null)) !== 0
    if (value === undefined || value === null) return wrong(type.types.some(isNothing))
    const tried = type.types.filter((one) => !isNothing(one)).map((one) => faultsOf(checker, one, value, at))
    return tried.sort((a, b) => a.length - b.length)[0] ?? []
  }
  if (type.isLiteral()) return wrong(value === type.value)
  if (type.flags & TypeFlags.BooleanLike) return wrong(typeof value === 'boolean')
  if (type.flags & TypeFlags.String) return wrong(typeof value === 'string')
  if (type.flags & TypeFlags.Number) return wrong(typeof value === 'number')
  if (type.flags & TypeFlags.Undefined) return wrong(value === undefined)
  if (type.flags & TypeFlags.Null) return wrong(value === null)
  if (type.symbol?.name === 'Date') return wrong(value instanceof Date && !Number.isNaN(value.getTime()))
  if (typeof value !== 'object' || value === null) return wrong(false)
  return insideOf(checker, type, value, at)
}

function insideOf(checker: ts.TypeChecker, type: ts.Type, value: Loose, at: string): string[] {
  if (checker.isArrayType(type)) {
    const [item] = checker.getTypeArguments(type as ts.TypeReference)
    if (!Array.isArray(value) || !item) return [`${at} is not a list`]
    return value.flatMap((one, i) => faultsOf(checker, item, one, `${at}[${i}]`))
  }
  const members = checker.getPropertiesOfType(type).flatMap((member) => {
    const isOptional = (member.flags & ts.SymbolFlags.Optional) !== 0
    const inner = value[member.name]
    if (isOptional && (inner === undefined || inner === null)) return []
    return faultsOf(checker, checker.getTypeOfSymbol(member), inner, `${at}.${member.name}`)
  })
  const index = checker.getIndexTypeOfType(type, ts.IndexKind.String)
  const named = index ? Object.keys(value).filter((name) => !type.getProperty(name)) : []
  return [
    ...members,
    ...named.flatMap((name) => (index ? faultsOf(checker, index, value[name], `${at}.${name}`) : [])),
  ]
}
