import { LiquidError } from 'liquidjs'
import { unknownFilter, unknownTag } from './hints.ts'

/** What is wrong with a template, in words for its author. Line and column count from 1; 0 means the whole. */
export type TemplateFault = Error & { name: 'TemplateFault'; line: number; column: number }

export function templateFault(message: string, line = 0, column = 0): TemplateFault {
  return Object.assign(new Error(message), { name: 'TemplateFault' as const, line, column })
}

export function isTemplateFault(error: unknown): error is TemplateFault {
  return error instanceof Error && error.name === 'TemplateFault'
}

export const withPlace = ({ message, line, column }: TemplateFault) =>
  line > 0 ? `${message} (line ${line}, column ${column})` : message

type Wording = [RegExp, (found: string) => string]

const wordings: Wording[] = [
  [/^undefined filter: (.+)/s, unknownFilter],
  [/^tag "(.*)" not found/s, unknownTag],
  [/^(?:tag|output|raw) (.+) not closed/s, (tag) => `${readable(tag)} is not closed.`],
  [/^invalid value expression: (.*)/s, (text) => `A value is missing or malformed near ${text}.`],
  [/^illegal tag: (.+)/s, (tag) => `${tag} is malformed.`],
  [/^memory alloc limit/, () => 'The template was stopped because it uses too much memory.'],
  [/call stack size/, () => 'The template is nested too deeply.'],
  [/Invalid string length/, () => 'The rendered template is too large.'],
]

// The tokenizer quotes what it found as JSON, the parser does not.
function readable(text: string): string {
  return text.startsWith('"') ? `The tag ${text}` : text
}

/** Turns whatever the template library threw into a fault. */
export function faultOf(error: unknown): TemplateFault {
  if (isTemplateFault(error)) return error
  const [line, column] = positionOf(error)
  const original = originalOf(error)
  if (isTemplateFault(original)) return templateFault(original.message, line, column)
  const said = (error instanceof Error ? error.message : String(error)).replace(/, line:\d+, col:\d+$/, '')
  for (const [pattern, word] of wordings) {
    const found = pattern.exec(said)
    if (found) return templateFault(word(found[1] ?? ''), line, column)
  }
  return templateFault(`The template cannot be read: ${said}.`, line, column)
}

function originalOf(error: unknown): unknown {
  return LiquidError.is(error) ? (error as { originalError?: unknown }).originalError : undefined
}

function positionOf(error: unknown): [number, number] {
  if (!LiquidError.is(error)) return [0, 0]
  const [line = 0, column = 0] = error.token.getPosition()
  return [line, column]
}
