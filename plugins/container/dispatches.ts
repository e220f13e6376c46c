import { createJobs, createLeases, createPipeline, createReleaseQueue, createReplyHandler, createStatusChangeHandler, createStatusQuery,
  demo, leaseTimes, startWorker, type Worker } from '@dispatch/core'
import type { Config } from '../config/config.ts'
import type { Dispatches, Factories, Get } from './dependencies.ts'

/** Creates the way of a dispatch, and the work beside requests. */
export const dispatches: Factories<keyof Dispatches> = {
  synchronousLimit: () => 120,
  addresses: (get) => ({
    document: get('documentUrl'),
    status: (dispatchId) => `${get('config').publicUrl}/api/v1/dispatches/${dispatchId}`
  }),
  leaseTimes: () => leaseTimes,
  leases: (get) =>
    createLeases({ database: get('database'), newId: get('newId'), now: get('now'), log: get('log'), times: get('leaseTimes') }),
  jobs: (get) => createJobs({ queue: get('queue'), now: get('now') }),
  releaseQueue: (get) => createReleaseQueue({ database: get('database'), queue: get('queue'), breakers: get('breakers'), now: get('now') }),
  pipelineParts: (get) => ({
    database: get('database'),
    configurations: get('configurations'),
    connections: get('connections'),
    templates: get('templates'),
    files: get('files'),
    host: get('host'),
    breakers: get('breakers'),
    network: get('network'),
    spool: get('documentSpool'),
    ...diskOf(get('config')),
    ...(get('config').keepsRequestLog && { exchanges: get('exchangeLog') }),
    renderer: get('renderer'),
    templateWorkers: get('templateWorkers'),
    documentUrl: get('documentUrl'),
    publicUrl: get('config').publicUrl,
    mailedSecrets: get('mailedSecrets'),
    keyring: get('keyring'),
    log: get('log'),
    leases: get('leases'),
    outcomes: get('outcomeSpool'),
    jobs: get('jobs'),
    accounts: get('accounts'),
    outbox: get('outbox'),
    recipients: get('recipients'),
    directories: get('directories'),
    approvals: get('approvalDesks'),
    shelves: get('shelves'),
    now: get('now'),
    newId: get('newId')
  }),
  pipeline: (get) =>
    createPipeline(get('pipelineParts'), {
      prices: get('config').prices,
      synchronousLimit: get('synchronousLimit'),
      publicUrl: get('config').publicUrl,
      standIn: demo.provider,
      offered: get('selectableProviders')
    }),
  statusQuery: (get) =>
    createStatusQuery({
      database: get('database'),
      keyring: get('keyring'),
      log: get('log'),
      now: get('now'),
      freshness: get('freshness'),
      configurations: get('configurations'),
      connections: get('connections'),
      network: get('network'),
      publicUrl: get('config').publicUrl,
      spool: get('documentSpool')
    }),
  onStatusChange: (get) => createStatusChangeHandler(get('pipelineParts')),
  onReply: (get) => createReplyHandler(get('pipelineParts'))
}

const diskOf = ({ diskRoot }: Config): { diskRoot?: string } => diskRoot === undefined ? {} : { diskRoot }

/** Starts the background work: queued and uncertain dispatches, status queries, retention. */
export async function beginWork (get: Get<
  | 'database'
  | 'host'
  | 'log'
  | 'queue'
  | 'onStatusChange'
  | 'statusQuery'
  | 'pipelineParts'
  | 'pipeline'
  | 'config'
  | 'dispatchRows'
  | 'notices'
  | 'files'
>): Promise<Worker> {
  return startWorker({
    database: get('database'),
    host: get('host'),
    log: get('log'),
    queue: get('queue'),
    onStatusChange: get('onStatusChange'),
    statusQuery: get('statusQuery'),
    dependencies: get('pipelineParts'),
    pipeline: get('pipeline'),
    atOnce: get('config').concurrency,
    dispatchRows: get('dispatchRows'),
    notices: get('notices'),
    files: get('files'),
    retentionDays: get('config').retentionDays,
    forgetMonths: get('config').forgetMonths
  })
}
