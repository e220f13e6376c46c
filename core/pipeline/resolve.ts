import type { Actor } from '../access/account.ts'
import { requireService } from '../access/permissions.ts'
import { chooseProvider, type Chooser } from '../configuration/choose.ts'
import { DispatchError, type Problem } from '../contract/errors.ts'
import type { Installed } from '../host/load.ts'
import type { ServiceName } from '../services/index.ts'
import type { DispatchRequest } from '../services/request.ts'
import type { StoredConfiguration } from '../store/configurations.ts'
import type { Parts } from './parts.ts'
import type { Draft } from './plan.ts'

export type Catalogs = Pick<Parts, 'configurations' | 'templates' | 'host'> & {
  problemsOf: (companyId: number, provider: Installed, configuration: StoredConfiguration) => readonly Problem[]
}

/** Throws `forbidden` unless the actor may use every one of the services. */
export function requireServices (actor: Actor, services: readonly ServiceName[]): void {
  for (const service of services) requireService(actor, service)
}

/** Finds what a request names: its template and, for each service, a provider with a configuration. Throws `template_not_found`. */
export async function resolve (catalogs: Catalogs, actor: Actor, request: DispatchRequest): Promise<Draft> {
  const { companyId } = actor
  const template = await catalogs.templates.find(companyId, request.template.id)
  if (template === undefined) throw new DispatchError('template_not_found', `There is no template ${request.template.id}: GET /api/v1/templates lists those that you may use.`)
  const company = await catalogs.configurations.of(companyId)
  const chooser: Chooser = {
    host: catalogs.host,
    company,
    problemsOf: (provider, configuration) => catalogs.problemsOf(companyId, provider, configuration)
  }
  const steps = request.services.map((service) => ({
    service,
    fields: request.fields[service] ?? {},
    ...chooseProvider(chooser, actor, service, request.providerName)
  }))
  return { request, template, steps }
}
