import { type ServiceName, serviceNames } from '@dispatch/services'

/** For how many days a company keeps its data, by service. `days`: of all other services; null: as the operator says. */
export type Retention = { days: number | null, services: Partial<Record<ServiceName, number>> }

/** For how many days the data of each service are kept: never longer than the operator says. */
export function retentionInEffect ({ days, services }: Retention, operatorDays: number): Record<ServiceName, number> {
  const inEffect = (service: ServiceName): number => Math.min(services[service] ?? days ?? operatorDays, operatorDays)
  return Object.fromEntries(serviceNames.map((service) => [service, inEffect(service)])) as Record<ServiceName, number>
}
