import { compile, errorMessageOf, isRecord, type JsonObject, withTimeLimit } from '@dispatch/common'
import { deliveryServices } from '@dispatch/contract'
import { type AnyProviderCheck, type Caller, deriveManifest, type EventReader, type InstalledProvider, isVerb, LoadTimeout, type Manifest,
  ProviderLoadError, readMigrated, readPackage, runAs, type SettingsMigration, type SettingsSchema, type Verb, type VerbName,
  verbNames } from '@dispatch/host'
import type { Context, Objection } from '@dispatch/host/provider'
import { type ServiceName, serviceNames } from '@dispatch/services'
import { createOwnDocuments } from '@dispatch/vendor-io'
import { failureError } from '@dispatch/vendor-io/outcome'
import { setTimeout as pause } from 'node:timers/promises'
import { Type } from 'typebox'
import type { Adapter } from './adapter.ts'
import type { Child } from './child.ts'
import { createSecretHandles } from './handles.ts'
import type { Launch } from './launch.ts'
import { findLauncher, type LauncherOptions } from './layers.ts'
import { createPool, type Pool, type PoolOptions } from './pool.ts'
import { type CallData, functionMark, type Given } from './protocol.ts'
import { makeEntry, makeRuntime } from './runtime.ts'
import { gapsInWords, howToClose, together, type Walls } from './walls.ts'

/** Where adapters run in processes of their own. */
export type Sandbox = {
  /** Loads a provider as the host does, but nothing of it runs here: its functions call its processes. */
  load: (folder: string, digest: string, limit: number) => Promise<InstalledProvider>
  /**
   * Runs a provider once, for at most `limit` seconds: what it says of itself, as JSON with its functions marked. Throws a
   * ProviderLoadError.
   */
  describe: (files: ProviderFiles, limit: number) => Promise<string>
  /**
   * A provider that is known by what it said of itself; its process is started when it is first called. `once`: each call has a process of
   * its own, which has ended with it. Throws a ProviderLoadError.
   */
  open: (files: ProviderFiles, definition: string, options?: { once: true }) => InstalledProvider
  /**
   * Why the code of strangers is not run here, in a sentence; undefined where the walls hold, or where the operator runs it without them.
   */
  obstacle: () => string | undefined
  /** What stands between the adapters and the machine, and what its processes do. */
  state: () => SandboxState
  close: () => Promise<void>
}

export type SandboxState = Walls & Omit<ReturnType<Pool['state']>, 'walls'>

/**
 * Where the code of a provider lies, and whose it is. `verify` runs before each start of a process, `onCrash` after each that has ended
 * otherwise than it was asked to. `isTrusted`: it may run where walls are missing, as providers do that are part of the service.
 */
export type ProviderFiles = Pick<InstalledProvider, 'folder' | 'digest' | 'version' | 'publisher'> & {
  entry: string
  verify?: () => Promise<void>
  onCrash?: (why: string) => void
  isTrusted?: true
}

/**
 * `cache` is a folder for the files that the processes run. `walls`: whether the code of strangers is run where a process could reach what
 * it must not.
 */
export type SandboxOptions = PoolOptions & Omit<LauncherOptions, 'runtime'> & { walls?: 'required' | 'optional' }

/** Milliseconds that a check, or the reading of an event, may take. */
const answerWithin = 2_000

const fitObjections = compile(Type.Unsafe<readonly Objection[]>(
  Type.Array(Type.Object({ at: Type.String(), code: Type.String(), message: Type.String() }), { maxItems: 100 })
))

/**
 * Makes the file that the processes run; none is started yet. Loading throws a {@link ProviderLoadError} for an adapter that cannot be
 * started or has an invalid manifest.
 */
export async function createSandbox ({ cache, walls: desired = 'required', bwrap, ...options }: SandboxOptions): Promise<Sandbox> {
  const { log } = options
  const runtime = await makeRuntime(cache)
  const launcher = await findLauncher({ runtime, cache, log, ...(bwrap !== undefined && { bwrap }) })
  if (launcher.walls.gaps.length > 0 && desired === 'optional') {
    log.warn({ gaps: launcher.walls.gaps }, 'adapters of others run here nevertheless, because DISPATCH_SANDBOX_REQUIRED is off')
  }
  const pool = createPool(options)

  const ending: Pool = { ...pool, run: (adapter, worker, work) => pool.runOnce(adapter, work, worker) }

  function obstacleOf ({ gaps }: Walls): string | undefined {
    if (gaps.length === 0 || desired === 'optional') return undefined
    return `The code of others is not run here. ${gapsInWords(gaps)} ${howToClose} DISPATCH_SANDBOX_REQUIRED=off runs it nevertheless.`
  }

  function adapterOf ({ folder, digest, entry, verify, onCrash, isTrusted }: ProviderFiles): Adapter {
    const launch = (): Promise<Launch> => launcher.launch({ runtime, entry, folder })
    const admit = (walls: Walls): void => {
      const obstacle = obstacleOf(walls)
      if (obstacle === undefined || isTrusted === true) return
      log.error({ folder, ...walls }, `a process of an adapter has fewer walls than it needs: ${obstacle}`)
      throw failureError({ word: 'provider_unavailable', message: 'The provider cannot be started here.', ours: true })
    }
    return {
      ...{ code: digest, folder, entry, launch, admit },
      ...(verify !== undefined && { verify }),
      ...(onCrash !== undefined && { onCrash })
    }
  }

  async function describe (files: ProviderFiles, limit: number): Promise<string> {
    const adapter = { ...adapterOf(files), loadLimit: limit * 1000 }
    const late = (): Error => new LoadTimeout(limit)
    const requested = pool.runOnce(adapter, (child) => withTimeLimit(limit * 1000, child.ask('describe', {}), late))
    const { definition } = await withTimeLimit(limit * 1000, requested, late).catch(refuse)
    return definition
  }

  function open (files: ProviderFiles, reported: string, { once }: { once?: true } = {}): InstalledProvider {
    const { folder, digest, version, publisher, isTrusted } = files
    const obstacle = obstacleOf(launcher.walls)
    if (obstacle !== undefined && isTrusted !== true) throw new ProviderLoadError(obstacle)
    const definition = definitionOf(reported)
    const fit = deriveManifest(definition, version)
    if (!fit.ok) {
      throw new ProviderLoadError(`Invalid manifest: ${fit.problems.map(({ path, message }) => `${path} ${message}`.trim()).join(' ')}`)
    }
    const { code } = fit.value
    const installed = { state: 'installed', folder, code, version, digest, publisher, manifest: fit.value } as const
    return Object.freeze({
      ...installed,
      ...proxies(once === true ? ending : pool, { ...adapterOf(files), code, settings: fit.value.settings }, definition, fit.value)
    })
  }

  return {
    async load (folder, digest, limit) {
      const { version, entry, publisher } = await readPackage(folder)
      const files = { folder, digest, version, publisher, entry: await makeEntry(cache, folder, entry), isTrusted: true } as const
      return open(files, await describe(files, limit))
    },
    describe,
    open,
    obstacle: () => obstacleOf(launcher.walls),
    state () {
      const { walls, ...state } = pool.state()
      return { ...together([launcher.walls, ...walls]), ...state }
    },
    close: pool.close
  }
}

function refuse (cause: unknown): never {
  throw cause instanceof ProviderLoadError
    ? cause
    : new ProviderLoadError(`It throws an error when it is loaded: ${errorMessageOf(cause)}`, { cause })
}

/** A definition as it was told, its functions stood in for by ones that do nothing: what its manifest is derived from. */
function definitionOf (reported: string): unknown {
  return JSON.parse(reported, (_key, value: unknown) => isRecord(value) && value[functionMark] === true ? () => undefined : value)
}

type Functions = Pick<InstalledProvider, 'verbs' | 'check' | 'suggestions' | 'migrateSettings' | 'checks' | 'eventReaders'>
/** An adapter with the schema of its settings, which tells what its secrets are. */
type KnownAdapter = Adapter & { settings: SettingsSchema }

function proxies (pool: Pool, adapter: KnownAdapter, definition: unknown, { suggestions = [] }: Manifest): Functions {
  const has = (...place: string[]): boolean => isVerb(place.reduce((value, name) => isRecord(value) ? value[name] : undefined, definition))
  return {
    verbs: Object.fromEntries(serviceNames.map((service) => [
      service,
      Object.fromEntries(
        verbNames.filter((verb) => has('services', service, verb)).map((verb) => [verb, verbOf(pool, adapter, service, verb)])
      )
    ])),
    ...(has('check') && {
      check: proxyOf(pool, adapter, (child, call, _request, context) => child.ask('credentials', { call, context }))
    }),
    suggestions: Object.fromEntries(suggestions.filter((setting) => has('suggestions', setting)).map((setting) => [
      setting,
      proxyOf(pool, adapter, (child, call, _request, context) => child.ask('suggest', { call, setting, context }))
    ])),
    ...(has('migrateSettings') && { migrateSettings: migrationOf(pool, adapter) }),
    checks: Object.fromEntries(
      serviceNames.filter((service) => has('services', service, 'check')).map((service) => [service, checkOf(pool, adapter, service)])
    ),
    eventReaders: Object.fromEntries(deliveryServices.filter((service) => has('webhooks', service, 'read')).map((service) => [
      service,
      ((event, account = '') => quickly(pool, adapter, account, (child) => child.ask('read', { service, event }))) satisfies EventReader
    ]))
  }
}

function verbOf (pool: Pool, adapter: KnownAdapter, service: ServiceName, verb: VerbName): Verb {
  return proxyOf(pool, adapter, (child, call, request, context) => child.ask('verb', { call, service, verb, request, context }))
}

/** A function that the adapter's process runs, with the ways out of its call. */
function proxyOf (
  pool: Pool,
  adapter: KnownAdapter,
  ask: (child: Child, call: number, request: unknown, context: CallData) => Promise<Given>
): Verb {
  return (request, context, { account, ended } = nobody) =>
    runAs({ provider: adapter.code, onLeaving: byHost }, () =>
      pool.run(adapter, { account, ended }, async (child, parks) => {
        ended.throwIfAborted()
        const documents = createOwnDocuments(request)
        const handles = createSecretHandles(adapter.settings, context.settings)
        const call = child.relay.open({ http: context.http, context, documents, handles, log: context.log, parks })
        const given = ask(child, call, request, { ...dataOf(context), settings: handles.settings })
        try {
          return handles.reveal(valueOf(await unlessStuck(pool, child, ended, given)))
        } catch (error) {
          throw handles.revealError(error)
        } finally {
          child.relay.close(call)
        }
      }))
}

/** Nothing of an adapter runs here: what leaves this process is what it has asked for, which is counted there, or the host's own. */
const byHost = (): void => undefined

/** Where nobody says who calls: a process of its own, and no end. */
const nobody: Caller = { account: '', ended: new AbortController().signal }

/** Milliseconds in which an adapter ends a call by itself that has failed because it was given up. */
const endsWithin = 200

/**
 * Waits for the answer of a process to a call. Once the call has ended, the process must still react, or it is ended; an adapter that only
 * goes on is not waited for.
 */
async function unlessStuck<Value> (pool: Pool, child: Child, ended: AbortSignal, requested: Promise<Value>): Promise<Value> {
  const over = Promise.withResolvers<never>()
  const onEnd = (): void => void Promise.all([pool.probe(child), pause(endsWithin)]).then(() => over.reject(new Error('The call is over.')))
  ended.addEventListener('abort', onEnd, { once: true })
  try {
    return await Promise.race([requested, over.promise])
  } finally {
    ended.removeEventListener('abort', onEnd)
  }
}

function checkOf (pool: Pool, adapter: Adapter, service: ServiceName): AnyProviderCheck {
  return async (requested, { now, ...known }, account = '') => {
    const value = await quickly(pool, adapter, account,
      (child) => child.ask('check', { service, requested, known: { ...known, now: now.getTime() } }))
    const fit = fitObjections(value)
    if (fit.ok) return fit.value
    throw new TypeError(`What the check of the provider "${adapter.code}" returned is no list of objections.`)
  }
}

/** Settings are migrated in a process for each owner, which has handles in place of every secret. */
function migrationOf (pool: Pool, adapter: KnownAdapter): SettingsMigration {
  return async ({ version, settings, secretNames: names, destinations }) => {
    const properties = Object.fromEntries(names.map((name) => [name, { 'x-secret': true as const }]))
    const handles = createSecretHandles({ type: 'object', properties, additionalProperties: false }, settings)
    const made = await pool.runOnce(adapter, async (child) => {
      const late = AbortSignal.timeout(answerWithin)
      return valueOf(await unlessStuck(pool, child, late, child.ask('migrate', { version, settings: handles.settings })))
    })
    return readMigrated(made, { form: adapter.settings, destinations, reveal: handles.reveal })
  }
}

/** What a function gives that must answer at once. That it does not is no fault of what it is asked: the machine may be busy. */
function quickly (pool: Pool, adapter: Adapter, account: string, ask: (child: Child) => Promise<Given>): Promise<unknown> {
  return pool.run(adapter, { account }, async (child) => {
    const late = AbortSignal.timeout(answerWithin)
    return valueOf(await unlessStuck(pool, child, late, ask(child)).catch((error: unknown) => {
      throw late.aborted ? notAnswered(adapter.code, error) : error
    }))
  })
}

function notAnswered (code: string, cause: unknown): Error {
  const message = `The provider "${code}" did not answer within ${answerWithin / 1000} seconds. Nothing was sent.`
  return failureError({ word: 'provider_unavailable', message, ours: true }, cause)
}

/** What the adapter returned; where it is not plain JSON, something that is none here either. */
function valueOf ({ value, unplain }: Given): unknown {
  return unplain === true ? valueOf : value
}

function dataOf ({ requestSettings, facts, sandbox, reference, idempotencyKey, repeated, checkpointed, rest, webhookUrl, now }: Context<
  JsonObject,
  JsonObject
>): Omit<CallData, 'settings'> {
  return {
    requestSettings,
    facts,
    sandbox,
    reference,
    idempotencyKey,
    now: now().getTime(),
    ...(repeated !== undefined && { repeated }),
    ...(checkpointed !== undefined && { checkpointed }),
    ...(rest !== undefined && { rest }),
    ...(webhookUrl !== undefined && { webhookUrl })
  }
}
