import { all } from './all.ts'

type All = typeof all
export type ServiceName = keyof All

/** The services, by the names that paths use, in the order of every list. */
export const serviceNames = Object.keys(all) as readonly ServiceName[]

export function isServiceName (name: string): name is ServiceName {
  return Object.hasOwn(all, name)
}

type Dispatched<Name extends ServiceName> = All[Name] extends { request: (...given: never) => infer Dispatch } ? Dispatch : never
type Declared<Name extends ServiceName> = All[Name] extends
  { request: (fields: never, made: never, capabilities?: infer Capabilities) => unknown } ? NonNullable<Capabilities>
  : never

/** For each service, what its providers declare (`capabilities`) and what they get (`dispatch`), as plain data; never where it has none. */
export type ServiceContracts = { [Name in ServiceName]: { capabilities: Declared<Name>, dispatch: Dispatched<Name> } }

/** The services that a provider does; the others are done here. */
export type ProvidedName = { [Name in ServiceName]: Dispatched<Name> extends never ? never : Name }[ServiceName]

/** What becomes of a step of the service, as its folder says it; nothing where nobody tells. */
export type DeliveryOf<Name extends ServiceName> = All[Name] extends { delivery: infer Rules } ? Rules : never
