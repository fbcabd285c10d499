// Reads JSON that strangers may have written.
import { FeedbackFault } from './fault.ts'

export type Fields = Record<string, unknown>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function readFields(text: string, what: string): Fields {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new FeedbackFault('malformed', `${what} is not JSON`, error)
  }
  if (!isFields(value)) throw new FeedbackFault('malformed', `${what} is not a JSON object`)
  return value
}

export function textAt(of: Fields, name: string): string | null {
  const value = of[name]
  return typeof value === 'string' && value !== '' ? value : null
}

export function needText(of: Fields, name: string): string {
  const value = textAt(of, name)
  if (value === null) throw new FeedbackFault('malformed', `${name} is missing or not a text`)
  return value
}

export function needFields(of: Fields, name: string): Fields {
  const value = of[name]
  if (!isFields(value)) throw new FeedbackFault('malformed', `${name} is missing or not an object`)
  return value
}

export function needList(of: Fields, name: string): unknown[] {
  const value = of[name]
  if (!Array.isArray(value)) throw new FeedbackFault('malformed', `${name} is missing or not a list`)
  return value
}

export function needFieldsList(of: Fields, name: string): Fields[] {
  const list = needList(of, name)
  if (!list.every(isFields)) throw new FeedbackFault('malformed', `${name} does not hold objects`)
  return list
}

export function needTime(of: Fields, name: string): Date {
  const time = new Date(needText(of, name))
  if (Number.isNaN(time.getTime())) throw new FeedbackFault('malformed', `${name} is not a time`)
  return time
}
