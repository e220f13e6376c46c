import type { Holder } from '@dispatch/core'
import { token } from '@dispatch/plugins/feature'

/** All that holds data of persons, in the order in which it is emptied. */
export const personHolders = token<readonly Holder[]>('personHolders')
