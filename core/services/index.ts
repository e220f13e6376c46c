import { invoicing } from './invoicing.ts'

/** Every service, by its name in the path. A new service is added here and nowhere else. */
export const services = { invoicing } as const

export type ServiceName = keyof typeof services

export const serviceNames = Object.keys(services) as readonly ServiceName[]

export function isServiceName (name: string): name is ServiceName {
  return Object.hasOwn(services, name)
}
