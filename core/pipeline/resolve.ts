import type { Actor } from '../access/account.ts'
import { requireService } from '../access/permissions.ts'
import { chooseProvider, type Chooser } from '../configuration/choose.ts'
import { DispatchError, type Problem } from '../contract/errors.ts'
import type { Installed } from '../host/load.ts'
import { needsProvider, type ServiceName } from '../services/index.ts'
import type { DispatchRequest, TemplateReference } from '../services/request.ts'
import type { StoredConfiguration } from '../store/configurations.ts'
import type { StoredTemplate } from '../store/templates.ts'
import type { Parts } from './parts.ts'
import type { Draft } from './plan.ts'

export type Catalogs = Pick<Parts, 'configurations' | 'templates' | 'host'> & {
  problemsOf: (companyId: number, provider: Installed, configuration: StoredConfiguration) => readonly Problem[]
}

/** Throws `forbidden` unless the actor may use every one of the services. */
export function requireServices (actor: Actor, services: readonly ServiceName[]): void {
  for (const service of services) requireService(actor, service)
}

/** Finds what a request names: its template, if it has one, and a provider with a configuration for each service that needs one. Throws `template_not_found`. */
export async function resolve (catalogs: Catalogs, actor: Actor, request: DispatchRequest): Promise<Draft> {
  const { companyId } = actor
  const template = request.template && { ...request.template, template: await findTemplate(catalogs, companyId, request.template) }
  const chooser: Chooser = {
    host: catalogs.host,
    company: await catalogs.configurations.of(companyId),
    problemsOf: (provider, configuration) => catalogs.problemsOf(companyId, provider, configuration)
  }
  const steps = request.services.map((service, index) => ({
    service,
    fields: request.fields[service] ?? {},
    settings: request.settings,
    ...(template === undefined || index > 0 ? {} : { template }),
    ...(needsProvider(service) ? { choice: chooseProvider(chooser, actor, service, request.providerName) } : {})
  }))
  return { request, steps }
}

async function findTemplate ({ templates }: Catalogs, companyId: number, reference: TemplateReference): Promise<StoredTemplate> {
  const template = 'id' in reference ? await templates.find(companyId, reference.id) : await templates.findNamed(companyId, reference.name)
  if (template !== undefined) return template
  throw new DispatchError('template_not_found', `There is no template ${'id' in reference ? reference.id : `"${reference.name}"`}: GET /api/v1/templates lists those that you may use.`)
}
