import { appCredentials, type Context, type ServiceContracts, type Static, Type } from '@dispatch/core/provider'

export const Settings = Type.Object(appCredentials('FreeAgent'))

export type Call = Context<Static<typeof Settings>, unknown>
export type Request = ServiceContracts['invoicing']['dispatch']
