// Bounds of one template. A template comes from a customer and runs in the process of all customers.
export const limits = {
  sourceCharacters: 1_000_000,
  /** Tags, outputs and the text between them. */
  pieces: 20_000,
  /** Values, filters and their arguments. */
  values: 100_000,
  tagCharacters: 10_000,
  dateFormatCharacters: 200,
  propertyCharacters: 200,
  renderMilliseconds: 500,
  /** All renderings of a request have the time of one, and this for each of its messages. */
  messageMilliseconds: 5,
  /** Characters and list entries that filters may make in one rendering. */
  memoryUnits: 1_000_000,
  outputCharacters: 5_000_000,
  /** Characters that our own filters may go through and make in one rendering. */
  workedCharacters: 10_000_000,
}
