// The patterns that schemas of requests name, each with what it asks for.

/** One line of a header: no character that ends one, or that no message is written with. */
export const line = '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$'
export const tag = '^[A-Za-z0-9_.-]{1,64}$'
const mimeToken = "[\\w!#$%&'*+.^`{|}~-]+"
/** type/subtype with parameters, RFC 2045 §5.1. */
export const contentType = `^${mimeToken}/${mimeToken}(?: ?; ?${mimeToken}=(?:${mimeToken}|"[ !#-\\[\\]-~]*"))*$`
export const contentId = '^[A-Za-z0-9!#$%&*+./=?^_{|}~@-]+$'
export const webAddress = '^https?://'
export const eventName = '^[A-Za-z0-9_-]{1,255}$'
export const operationName = '^[a-z0-9_.]+$'

/** To follow the name of a field. */
export const patternWords: Record<string, string> = {
  [line]: 'must not contain line breaks or other control characters',
  [tag]: 'must have 1 to 64 letters, digits, underscores, points or hyphens',
  [contentType]: 'must be a media type such as application/pdf',
  [contentId]: 'must be a name without spaces and brackets, such as logo@example.com',
  [webAddress]: 'must begin with http:// or https://',
  [eventName]: 'must have 1 to 255 letters, digits, underscores or hyphens',
  [operationName]: 'must be the name of an operation, such as email.send',
}
