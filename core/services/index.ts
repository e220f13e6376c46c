import { invoicing } from './invoicing.ts'
import type { AnyService } from './service.ts'

const all = { invoicing }

export type ServiceName = keyof typeof all

/** Every service, by its name in the path. */
export const services: Readonly<Record<ServiceName, AnyService>> = all

export const serviceNames = Object.keys(services) as readonly ServiceName[]

export function isServiceName (name: string): name is ServiceName {
  return Object.hasOwn(services, name)
}
