import type { AccessEnd, Accounts, ApiKeys, Authentication, BruteForceGuard, CompanyAccounts, CompanySettings, Credentials, DocumentLinks,
  Domains, Impersonation, KeyAdministration, LinkMail, MailedSecrets, Meter, Notices, PasswordPolicy, RequestLog, SecondFactors, Sessions,
  SigningKeys, Tokens, UnknownSecrets, Users, Verification } from '@dispatch/accounts'
import type { Keyring, Log, RecentOthers } from '@dispatch/common'
import type { Addresses, ApprovalDesk, Changes, Configurations, ConfigurationService, Connections, CredentialCheck, Directories,
  DispatchRows, DocumentUrl, Downloads, ExchangeLog, FileShelf, FileUse, Holder, Leases, LeaseTimes, OnReply, OnStatusChange, Outbox,
  OutcomeSpool, Pipeline, PipelineJobs, PipelineParts, ProviderAdministration, ProviderSync, Receive, Reception, RecipientBook,
  ReleaseQueue, StatusQuery, Suggestions, Templates } from '@dispatch/core'
import type { ProviderSource } from '@dispatch/core/source'
import type { Database, Freshness } from '@dispatch/database'
import type { Renderer, TemplateWorkers } from '@dispatch/documents'
import type { AtomicFiles, FileStore } from '@dispatch/files'
import type { Breakers, Host, PassedTrials, State } from '@dispatch/host'
import type { Queue } from '@dispatch/queue'
import type { LazySandbox } from '@dispatch/sandbox'
import type { DataKeys } from '@dispatch/tables'
import type { DocumentSpool, FetchJson, Network, OpenId, Peppol } from '@dispatch/vendor-io'
import type { CatalogLocation } from '../config/catalogs.ts'
import type { Config } from '../config/config.ts'
import type { AdmissionLimits } from '../hooks/admission-control.ts'
import type { RateLimiters } from '../hooks/rate-limits.ts'
import type { SimulatedVendor } from '../routes/simulated-vendor.ts'
import type { TransportLimits } from '../server/transport-limits.ts'
import type { Traces } from '../traces/traces.ts'

/** What a process has: its settings, clock, keys, database and logs. */
export type Process = {
  config: Config
  now: () => Date
  newId: () => string
  log: Log
  /** Undefined where nothing is traced. */
  traces: Traces | undefined
  keyring: Keyring
  signingKeys: SigningKeys
  linkKey: Uint8Array
  database: Database
  /** How far this machine's clock is from the database's, in seconds, measured at the start. */
  clockSkew: number
  /** The time by the clock of the database, without a query each time. */
  databaseTime: () => Promise<Date>
  freshness: Freshness
  /** Aborted when load balancers are to send nothing more. */
  leaving: AbortController
  transportLimits: TransportLimits
  admissionLimits: AdmissionLimits
  /** The companies whose clients have begun a request lately: beside them, others get less. */
  othersLately: RecentOthers
  queue: Queue
  changes: Changes
  /** The requests of companies, which they can read. */
  requestLog: RequestLog
  exchangeLog: ExchangeLog
}

/** Who signs in, and what they may. */
export type People = {
  accounts: Accounts
  credentials: Credentials
  /** Measures how long passwords take, once in a process. */
  measurePasswords: () => Promise<void>
  tokens: Tokens
  unknownSecrets: UnknownSecrets
  authentication: Authentication
  impersonation: Impersonation
  users: Users
  companies: CompanyAccounts
  companySettings: CompanySettings
  apiKeys: ApiKeys
  keyAdministration: KeyAdministration
  sessions: Sessions
  openId: OpenId
  domains: Domains
  linkMail: LinkMail
  notices: Notices
  mailedSecrets: MailedSecrets
  secondFactors: SecondFactors
  passwordPolicy: PasswordPolicy
  /** What ends a way in, of each feature that brings one. */
  accessEnds: readonly AccessEnd[]
  /** The kinds of verification that features bring. */
  verifications: readonly Verification[]
  /** Undefined where authentication has no rate limit. */
  bruteForceGuard: BruteForceGuard | undefined
  rateLimiters: RateLimiters
  /** Meters all requests of each user; undefined where they are not limited. */
  requestMeter: Meter | undefined
}

/** Providers, their configurations, and what vendors send. */
export type Providers = {
  configurations: Configurations
  configurationService: ConfigurationService
  credentialCheck: CredentialCheck
  suggestions: Suggestions
  directories: Directories
  /** The e-invoices that come to companies through their providers. */
  reception: Reception
  /** Undefined where the operator has not set it up. */
  peppol: Peppol | undefined
  connections: Connections
  catalogLocations: readonly CatalogLocation[]
  /** Runs providers in processes of their own. */
  sandbox: LazySandbox
  /** From where features bring providers. */
  providerSources: readonly ProviderSource[]
  host: Host
  /** The folders of providers that need no trial. */
  passedTrials: PassedTrials
  providerSync: ProviderSync
  /** The providers that companies may choose. In production the simulator is not one of them: only test keys reach it. */
  selectableProviders: Host
  providerAdministration: ProviderAdministration
  breakers: Breakers
  network: Network
  fetchJson: FetchJson
  /** In development only. */
  simulatedVendor: SimulatedVendor
  simulatorState: (companyId: number) => State
  /** Events of vendors that wait on the disk. */
  waitingEvents: Pick<AtomicFiles, 'count'>
}

/** Templates, documents and their files. */
export type Documents = {
  templates: Templates
  /** Undefined where documents are stored as they are. */
  dataKeys: DataKeys | undefined
  files: FileStore
  receive: Receive
  documentLinks: DocumentLinks
  downloads: Downloads
  documentUrl: DocumentUrl
  documentSpool: DocumentSpool
  renderer: Renderer
  templateWorkers: TemplateWorkers
  /** The files that companies have uploaded, of the feature that brings them. */
  shelves: readonly FileShelf[]
  /** What names files of companies and waits. */
  fileUses: readonly FileUse[]
}

/** The way of a dispatch, and what is told of it. */
export type Dispatches = {
  addresses: Addresses
  /** How long a client waits for a synchronous dispatch, in seconds. */
  synchronousLimit: number
  leases: Leases
  /** Results of provider calls that could not be written to the database. */
  outcomeSpool: OutcomeSpool
  leaseTimes: LeaseTimes
  jobs: PipelineJobs
  releaseQueue: ReleaseQueue
  outbox: Outbox
  /** What features know of those to whom companies send. */
  recipients: readonly RecipientBook[]
  /** What companies want two people for, of the feature that brings it. */
  approvalDesks: readonly ApprovalDesk[]
  /** What features keep of dispatches. */
  dispatchRows: readonly DispatchRows[]
  /** What the tables of features hold of persons. */
  holders: readonly Holder[]
  pipelineParts: PipelineParts
  pipeline: Pipeline
  statusQuery: StatusQuery
  onStatusChange: OnStatusChange
  onReply: OnReply
}

/** What the container has, by name. Nothing takes all of it: see {@link Get}. */
export type Dependencies = Process & People & Providers & Documents & Dispatches

/** Finds a dependency by its name. `Used`: the names that whoever takes it may ask for. */
export type Get<Used extends keyof Dependencies = keyof Dependencies> = <Name extends Used>(name: Name) => Dependencies[Name]

/** How dependencies are created from others, when they are first requested. */
export type Factories<Made extends keyof Dependencies> = { [Name in Made]?: (get: Get) => Dependencies[Name] }
