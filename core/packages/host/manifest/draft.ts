import type { ProvidedName, ServiceContracts } from '@dispatch/services'
import type { Http } from '@dispatch/vendor-io'
import { failureOf, refused } from '@dispatch/vendor-io/outcome'
import type { Static, TObject } from 'typebox'
import type { NoFields } from '../settings/fields.ts'
import type { Context } from './context.ts'
import type { Accepted, Dispatch, Found, Lookup } from './definition.ts'

/**
 * The functions for a vendor that makes a draft first. `prepare` makes a complete draft and resolves to its id. `find` finds the state of a
 * draft; a 404 means that it no longer exists. `issue` makes it real: its requests are after the point of no return. `findUnrecorded`
 * searches for a draft whose record was lost; without it, nothing counts as made before a draft is recorded. `withdraw` deletes the draft
 * of an earlier attempt when this attempt is refused. `prepare` itself registers how to undo what it makes (`onRefusal`).
 */
export type Drafts<Request, Call> = {
  prepare: (request: Request, context: Call) => Promise<string>
  find: (draft: string, context: Call) => Promise<Found>
  issue: (draft: string, request: Request, context: Call) => Promise<Accepted>
  findUnrecorded?: (context: Call) => Promise<Found>
  withdraw?: (draft: string, request: Request, context: Call, http: Http) => Promise<unknown>
}

type Checkpoints = Pick<Context<unknown, unknown>, 'checkpoint' | 'checkpointed' | 'onRefusal'>

/** The verbs that `draftFirst` makes. */
type DraftVerbs<Request, Call> = { checkpoint: true, dispatch: Dispatch<Request, Call>, lookup: Lookup<Call> }

/**
 * The verbs of a service whose vendor makes a draft first. A dispatch continues from the recorded draft, and never issues a draft twice.
 * With the service and the schemas of the settings, such as `draftFirst<'postal', typeof Settings>({ … })`, the functions in it need no
 * types of their own; otherwise they say theirs.
 */
export function draftFirst<Request, Call extends Checkpoints> (drafts: Drafts<Request, Call>): DraftVerbs<Request, Call>
export function draftFirst<
  Name extends ProvidedName,
  Settings extends TObject,
  RequestSettings extends TObject = typeof NoFields
> (drafts: Drafts<ServiceContracts[Name]['dispatch'], Context<Static<Settings>, Static<RequestSettings>>>): DraftVerbs<
  ServiceContracts[Name]['dispatch'],
  Context<Static<Settings>, Static<RequestSettings>>
>
export function draftFirst<
  Request,
  Call extends Checkpoints
> ({ prepare, find, issue, findUnrecorded = nothing, withdraw = nothing }: Drafts<Request, Call>): DraftVerbs<Request, Call> {
  return {
    checkpoint: true,
    async dispatch (request, context) {
      const { checkpointed } = context
      const before = checkpointed === undefined ? await nothing() : await found(find(checkpointed, context))
      if (before.found === 'accepted') return before.response
      if (before.found === 'rejected') throw refused(before.code, before.message)
      const kept = before.found === 'draft' ? checkpointed : undefined
      if (kept !== undefined) context.onRefusal((http) => withdraw(kept, request, context, http))
      const draft = kept ?? await prepare(request, context)
      await context.checkpoint(draft)
      return await issue(draft, request, context)
    },
    lookup: ({ checkpoint }, context) => checkpoint === undefined ? findUnrecorded(context) : found(find(checkpoint, context))
  }
}

function nothing (): Promise<Found> {
  return Promise.resolve({ found: 'absent' })
}

async function found (finding: Promise<Found>): Promise<Found> {
  try {
    return await finding
  } catch (error) {
    if (failureOf(error)?.status === 404) return { found: 'absent' }
    throw error
  }
}
