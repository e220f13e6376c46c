import type { DocumentHandle } from '@dispatch/common'
import { type DryRunView, refusal } from '@dispatch/contract'
import { capabilitiesOf, dryRun } from '@dispatch/host'
import { needsProvider, services } from '@dispatch/services'
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { DispatchCommand } from '../command.ts'
import type { Planner } from '../plan/plan.ts'
import { isCallable } from '../step.ts'
import { type CallDependencies, contextOf } from './call.ts'
import { prepareContent } from './content.ts'
import { type RehearsalDependencies, rehearse } from './rehearse.ts'
import { beginRun, plannedDispatch } from './run.ts'

/** What a dry run needs. */
export type DryRunDependencies = RehearsalDependencies & CallDependencies

/**
 * What a dispatch would send, without recording, storing or sending anything: its documents are made in memory. Throws a DispatchError for
 * whatever a validation would refuse.
 */
export async function dryRunOf (dependencies: DryRunDependencies, planner: Planner, command: DispatchCommand): Promise<DryRunView> {
  const { newId, now, files } = dependencies
  const plan = await planner.plan(command, planner.read(command))
  await rehearse(dependencies, plan, command, { extent: 'everything' })
  const run = beginRun(plannedDispatch(plan, command, { dispatchId: newId() }), { runId: newId(), createdAt: now() })
  const [step] = run.steps
  if (step === undefined || !isCallable(step) || !needsProvider(step.service)) {
    throw refusal('validation_error', [{ path: '', code: 'no_provider', message: 'There is no provider that would send something.' }])
  }
  const kept = new Map<string, Uint8Array>()
  const inMemory = {
    ...files,
    put (key: string, bytes: Uint8Array) {
      kept.set(idIn(key), bytes)
      return Promise.resolve()
    },
    async receive (key: string, bytes: Readable) {
      const whole = await buffer(bytes)
      kept.set(idIn(key), whole)
      return { size: whole.length, sha256: hash('sha256', whole), head: whole }
    }
  }
  const { made } = await prepareContent({ ...dependencies, files: inMemory }, run, step, () => Promise.resolve(undefined))
  const context = await contextOf(dependencies, run, step)
  const { documents: stored } = context.resources
  const documents = {
    read: (document: DocumentHandle) => {
      const bytes = kept.get(document.id)
      return bytes === undefined
        ? stored.read(document)
        : Promise.resolve(Readable.from([Buffer.from(bytes)], { objectMode: false }))
    },
    keep: () => Promise.reject(new TypeError('A dry run keeps nothing.'))
  }
  const resources = { ...context.resources, documents, holds: () => true }
  const { service, fields, by: { provider } } = step
  const request = services[service].request(fields, made, capabilitiesOf(provider, service)?.capabilities)
  return await dryRun(provider, service, request, { ...context, resources })
}

/** A storage key ends with the id of its document. */
function idIn (key: string): string {
  return key.slice(key.lastIndexOf('/') + 1)
}
