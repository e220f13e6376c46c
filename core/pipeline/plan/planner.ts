import { createConfigurationCheck } from '../../configuration/vault.ts'
import { latestVersion } from '../../contract/versions.ts'
import type { Host } from '../../host/host.ts'
import type { ServicePath } from '../../services/chains.ts'
import { createRequestReader, type DispatchRequest } from '../../services/request.ts'
import { readUploadFields } from '../../services/upload-fields.ts'
import type { DispatchCommand } from '../command.ts'
import type { PipelineDependencies } from '../dependencies.ts'
import { checkAndPlan, foresee } from './check.ts'
import type { DispatchPlan } from './plan.ts'
import { requireAll, requireServices, resolveRequest } from './resolve.ts'
import { createTemplateChecks } from './template-checks.ts'

/** What is done with a request before anything of it is recorded. Both throw a DispatchError for what is wrong with it. */
export type Planner = {
  /** The request as its services read it, of an actor who may use them. */
  read: (command: DispatchCommand) => DispatchRequest
  /** Resolves a request that was read, and checks it. */
  plan: (command: DispatchCommand, request: DispatchRequest) => Promise<DispatchPlan>
}

/**
 * `prices` in credits by service, where they differ from the services' own; `link`: as long as that of every document; `standIn`: the code
 * of the provider that test keys reach where the chosen one has no sandbox; `offered`: the providers that may be chosen, all unless given.
 */
export type PlannerOptions = { prices: Readonly<Record<string, number>>, link: string, standIn?: string, offered?: Host }

export function createPlanner (parts: PipelineDependencies, options: PlannerOptions): Planner {
  const { prices, link, standIn, offered = parts.host } = options
  const readers = new Map<string, (body: unknown) => DispatchRequest>()
  const catalogs = { ...parts, host: offered, disk: parts.diskRoot !== undefined, problemsOf: createConfigurationCheck(parts.keyring) }
  const templateChecks = createTemplateChecks(parts.templateWorkers)
  const rules = { prices, link, now: parts.now, guard: parts.network.guard }
  return {
    read ({ actor, services, body }) {
      // Who may not use a service learns nothing of what it takes.
      requireServices(actor, services)
      const path = services.join('/')
      const reader = readers.get(path) ?? readerOf(services)
      readers.set(path, reader)
      const request = reader(body)
      requireAll(actor, request)
      return request
    },

    async plan ({ actor, mode = 'synchronous', version = latestVersion }, request) {
      const draft = await resolveRequest({ ...catalogs, version }, actor, request)
      const standsIn = standIn === undefined ? {} : { standIn: parts.host.find(standIn) }
      const foreseen = await foresee(draft, parts.now())
      return checkAndPlan(draft, { ...rules, foreseen, templateFindings: await templateChecks(draft), mode, version, ...standsIn })
    }
  }
}

/** A file comes as a form, whose fields are texts; everything else is JSON. */
function readerOf (services: ServicePath): (body: unknown) => DispatchRequest {
  return services[0] === 'upload' ? (body) => readUploadFields(body as Readonly<Record<string, string>>) : createRequestReader(services)
}
