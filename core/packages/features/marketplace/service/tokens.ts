import { token } from '@dispatch/plugins/feature'
import type { Adapters } from './adapters.ts'
import type { Catalogs } from './catalogs.ts'
import type { Marketplace } from './marketplace.ts'

export const adapters = token<Adapters>('adapters')

export const catalogs = token<Catalogs>('catalogs')

export const marketplace = token<Marketplace>('marketplace')
