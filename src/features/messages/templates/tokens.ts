import { type Expression, type FilteredValueToken, type Token, Tokenizer, type ValueToken } from 'liquidjs'
import { templateFault } from './fault.ts'
import { limits } from './limits.ts'

// The library hands out its tokens only where it reads them: one of each is read here, and copied with what it should
// say. Each is counted, for there may be half a million in a template, and nothing else ends its reading.

export type FilterToken = FilteredValueToken['filters'][number]

const read = new Tokenizer('0 == 0 | x').readFilteredValue()
const [zero, , operator] = read.initial.postfix as [ValueToken, Token, Token]
const [filter] = read.filters as [FilterToken]

let count = 0

export function beginReading(): void {
  count = 0
}

export function countValue(): void {
  if (++count > limits.values)
    throw templateFault(`The template has more than ${limits.values} values and filters.`)
}

const copy = <One extends object>(one: One, change: object): One =>
  Object.assign(Object.create(Object.getPrototypeOf(one)), one, change)

type Place = { input: string; begin: number; end: number }

export const zeroToken = zero

export const operatorToken = (name: string, place: Place): Token =>
  copy(operator, { operator: name, ...place })

export const filterToken = (name: string, args: FilterToken['args'], place?: Place): FilterToken =>
  copy(filter, { name, args, ...place })

export const valueToken = (initial: Expression, filters: FilterToken[], place: Place): FilteredValueToken =>
  copy(read, { initial, filters, ...place })
