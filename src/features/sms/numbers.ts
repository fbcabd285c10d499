// Whom an SMS goes to and whom it is from.
import { type NumberType, parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { given } from '../../kernel/v3/lenient.ts'
import { readPhone } from '../contacts/contacts/read-ref.ts'

export type Recipient = {
  /** As contacts keep it: the digits of E.164. */
  digits: string
  isFrench: boolean
}

// In most countries nobody can tell a mobile number for certain; these are certainly none.
const withoutSms: NumberType[] = [
  'FIXED_LINE',
  'TOLL_FREE',
  'PREMIUM_RATE',
  'SHARED_COST',
  'UAN',
  'PAGER',
  'VOICEMAIL',
]

export function readRecipient(text: string | undefined): Recipient {
  const asked = given(text)
  if (asked === undefined) throw missingParameter({ message: 'recipient is missing', param: 'recipient' })
  const digits = readPhone(asked) ?? ''
  const number = parsePhoneNumberFromString(`+${digits}`)
  if (!number?.isPossible())
    throw invalidParameter({
      message: 'recipient must be a mobile number with its country code, such as +33612345678',
      param: 'recipient',
    })
  const isFrench = number.countryCallingCode === '33'
  const isMobile = isFrench
    ? /^[67]/.test(number.nationalNumber)
    : !withoutSms.includes(number.getType() as NumberType)
  if (!isMobile)
    throw invalidParameter({
      message: 'recipient is not a mobile number: it takes no SMS',
      param: 'recipient',
    })
  return { digits, isFrench }
}

// Operators in France block senders that name nobody, or write another one over them.
const namesNobody = /^(alerte?s?|infos?|rdv|sms)$/i

export function readSender(text: string | undefined, { isFrench }: Recipient): string {
  const sender = given(text)?.trim()
  if (sender === undefined) throw missingParameter({ message: 'sender is missing', param: 'sender' })
  const fault = isFrench ? frenchFault(sender) : usualFault(sender)
  if (fault === undefined) return sender
  throw invalidParameter({ message: `sender ${fault}`, param: 'sender' })
}

function usualFault(sender: string): string | undefined {
  if (/^\+?\d{1,15}$/.test(sender) || /^[A-Za-z0-9]{1,11}$/.test(sender)) return undefined
  return 'must be up to 11 letters and digits, or up to 15 digits'
}

function frenchFault(sender: string): string | undefined {
  if (!/^[A-Za-z0-9]{1,11}$/.test(sender) || !/[A-Za-z]/.test(sender))
    return 'must be 1 to 11 letters and digits, at least one of them a letter, for numbers in France'
  if (namesNobody.test(sender)) return 'must name who writes: operators in France block generic words'
  return undefined
}
