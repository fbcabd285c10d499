// What templates call the links that are a recipient's own.

/** To be left alone, or to choose. */
export const leavingLinks = new Set(['unsubscribe_url', 'unsubscribe', 'preferences_url', 'update_profile'])
export const ownLinks = new Set([...leavingLinks, 'mirror'])
