// How much memory the process takes beyond what it needs.
import { setFlagsFromString } from 'node:v8'

/**
 * What is loaded to be sent lives just long enough to be taken for lasting, and is garbage soon after. Left to itself
 * V8 lets such garbage grow to three or four times what is in use before it looks there. Looking at twice as much costs
 * no measurable part of the rate.
 */
export function keepHeapSmall(): void {
  setFlagsFromString('--heap-growing-percent=100')
}
