// What the specification asks for and nobody has declared yet, in its order. Whoever declares one removes it here.
export const missing: string[] = []

// May only be lowered.
export const missingAtMost = 0
