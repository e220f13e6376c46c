import type { Database, Keyring, Log } from '@dispatch/core'
import { configurationsRefusedBy, configurationsUnserved, configurationsWrittenFor, migrateConfiguration,
  type MigratedSettings } from '@dispatch/core/source'
import { inspectPackage } from '@dispatch/marketplace'
import type { ProviderFiles, Sandbox } from '@dispatch/sandbox'
import { join } from 'node:path'
import type { TakenPackage } from '../store/adapters.ts'
import type { AdapterFiles } from './adapter-files.ts'
import { crashCounter } from './crashes.ts'
import { asNoRoom, entryName } from './take-in.ts'

type Options = { database: Database, keyring: Keyring, files: AdapterFiles, sandbox: () => Promise<Sandbox>, log: Log }

/**
 * What a newer version makes of the configurations that it does not accept as they are. Nothing is written. What it cannot migrate stays as
 * it is: the version before goes on with it.
 */
export async function migrateSettings (
  options: Options,
  { from, to }: { from: TakenPackage, to: TakenPackage },
  now: Date
): Promise<MigratedSettings[]> {
  const { keyring, files, sandbox, log } = options
  const { open } = await sandbox()
  const [older, planned] = [open(placeOf(from, options), from.definition), open(placeOf(to, options), to.definition)]
  const left = await configurationsRefusedBy(options, planned)
  if (left.length === 0 || planned.migrateSettings === undefined) return []
  await using staged = await files.stage(inspectPackage(to.bytes, { integrity: to.integrity }).files).catch(asNoRoom)
  const newer = open(placeOf(to, { ...options, files: { folderOf: () => staged.folder } }), to.definition)
  const migrated: MigratedSettings[] = []
  for (const stored of left) {
    const found = await migrateConfiguration({ keyring, now }, { older, newer }, stored).catch((err: unknown) => {
      log.warn({ err, provider: to.code, companyId: stored.companyId }, 'an adapter could not migrate the settings of a company')
    })
    if (found !== undefined) migrated.push(found)
  }
  return migrated
}

/**
 * The configurations that the version before the running one goes on with, and that a newer one neither accepts nor migrates. Two versions
 * serve at a time: after the upgrade nothing could be dispatched with them any more.
 */
export async function leftBehind (
  options: Options,
  { earlier, running, newer }: Record<'earlier' | 'running' | 'newer', TakenPackage>,
  migrated: readonly MigratedSettings[]
): ReturnType<typeof configurationsWrittenFor> {
  const { open } = await options.sandbox()
  const refused = await configurationsRefusedBy(options, open(placeOf(newer, options), newer.definition))
  const keyOf = ({ companyId, userId }: Pick<MigratedSettings, 'companyId' | 'userId'>): string => JSON.stringify([companyId, userId])
  const [unfit, moved] = [new Set(refused.map(keyOf)), new Set(migrated.map(keyOf))]
  const served = await writtenFor(options, { running: earlier, older: running })
  return served.filter((stored) => unfit.has(keyOf(stored)) && !moved.has(keyOf(stored)))
}

/** The configurations that the running version of an adapter accepts, and an older one does not in any form. */
export async function writtenFor (
  options: Options,
  { running, older }: { running: TakenPackage, older: TakenPackage }
): ReturnType<typeof configurationsWrittenFor> {
  const { open } = await options.sandbox()
  return await configurationsWrittenFor(options, {
    running: open(placeOf(running, options), running.definition),
    older: open(placeOf(older, options), older.definition)
  })
}

/** The companies whose settings fit neither the version that runs nor the older one that serves beside it. */
export async function companiesUnserved (
  options: Options,
  { running, beside }: { running: TakenPackage, beside: TakenPackage | undefined }
): Promise<number[]> {
  const { open } = await options.sandbox()
  const before = beside && open(placeOf(beside, options), beside.definition)
  const provider = { ...open(placeOf(running, options), running.definition), ...(before !== undefined && { before }) }
  return [...new Set((await configurationsUnserved(options, provider)).map(({ companyId }) => companyId))]
}

function placeOf (
  { integrity, version, publisher }: TakenPackage,
  { files: { folderOf }, ...recording }: Pick<Options, 'database' | 'log'> & { files: Pick<AdapterFiles, 'folderOf'> }
): ProviderFiles {
  const folder = folderOf(integrity)
  const onCrash = crashCounter(recording, integrity)
  return { folder, digest: integrity, version, publisher, entry: join(folder, entryName), onCrash }
}
