/** What an API key may be used for, out of what its user may do. Each route names those that it takes. */
export const keyScopes = ['send', 'propose', 'read_own', 'read_all', 'templates', 'configuration', 'callbacks', 'audit',
  'platform'] as const
export type KeyScope = typeof keyScopes[number]

/** The modes of an API key. A test key has no real effect. */
export const keyModes = ['live', 'test'] as const
export type KeyMode = typeof keyModes[number]

/** The scopes of a key for which no others are asked: it sends, and reads what its user has sent. */
export const usualScopes: readonly KeyScope[] = ['send', 'read_own']
