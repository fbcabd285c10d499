// Bounds of one template. A template comes from a customer and runs in the process of all customers.
export const limits = {
  sourceCharacters: 1_000_000,
  /** Tags and outputs. The library takes tokens off the front of an array, which is slow for very long ones. */
  pieces: 20_000,
  renderMilliseconds: 500,
  /** Characters and list entries that filters may make in one rendering. */
  memoryUnits: 2_000_000,
  outputCharacters: 5_000_000,
}
