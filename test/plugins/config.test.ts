import { globSync, readFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createAuthority } from '../../core/packages/conformance/vendor/certificates.ts'
import { type Config, ConfigError, readConfig } from '../../plugins/config/config.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

void t.test('an empty environment is a development service in the checkout', (t) => {
  t.same(readConfig({}), {
    environment: 'development',
    host: '127.0.0.1',
    port: 3000,
    publicUrl: 'http://127.0.0.1:3000',
    dataDirectory: resolve(root, 'data'),
    demoCatalog: resolve(root, 'data/demo-catalog'),
    providerDirectories: [resolve(root, 'providers')],
    sandbox: 'none',
    sandboxWalls: 'required',
    prices: {},
    allowedNetworks: [],
    trustedProxies: [],
    limits: { auth: 10, dispatch: 100, validation: 0, requests: 6_000 },
    webhookAuth: {},
    retentionDays: 90,
    filesQuota: 1024 * 1024 * 1024,
    runsWorker: true,
    concurrency: 16,
    keepsRequestLog: true,
    logBudget: 32,
    showsConsole: true,
    drainDelay: 0,
    logLevel: 'info'
  })
  t.end()
})

void t.test('a catalog is a directory or an address, and the keys that sign it', (t) => {
  const { catalogs } = readConfig({ DISPATCH_CATALOGS: ' /srv/adapters#/etc/a.json  https://example.com/#/etc/a.json,/etc/b.json ' })
  t.same(catalogs, [
    { address: '/srv/adapters', keyFiles: ['/etc/a.json'] },
    { address: 'https://example.com/', keyFiles: ['/etc/a.json', '/etc/b.json'] }
  ])
  for (const wrong of ['/srv/adapters', '/srv/adapters#', '#/etc/a.json', 'http://example.com/#/etc/a.json', '/srv#/a#/b']) {
    t.throws(() => readConfig({ DISPATCH_CATALOGS: wrong }), ConfigError, wrong)
  }
  t.end()
})

void t.test('an empty variable counts as absent', (t) => {
  const code = globSync('plugins/config/*.{ts,mjs}', { cwd: root }).map((file) => readFileSync(join(root, file), 'utf8')).join('\n')
  const names = [
    ...new Set([...code.matchAll(/\b(?:NODE_ENV|HOST|PORT|DATABASE_URL|(?:DISPATCH|OTEL)_[A-Z\d_]*[A-Z\d])\b/g)].map(([name]) => name))
  ]
  t.ok(names.length >= 50, names.join(' '))
  t.same(readConfig(Object.fromEntries(names.map((name) => [name, '']))), readConfig({}))
  t.end()
})

void t.test('dispatches are kept longer than the data of their requests', (t) => {
  const kept = (days: string, months: string) => readConfig({ DISPATCH_RETENTION_DAYS: days, DISPATCH_FORGET_MONTHS: months }).forgetMonths
  t.equal(kept('112', '4'), 4)
  t.throws(() => kept('113', '4'), {
    constructor: ConfigError,
    message: 'DISPATCH_FORGET_MONTHS is "4"; it must be a whole number of months from 5 on, because DISPATCH_RETENTION_DAYS is 113.'
  })
  t.end()
})

void t.test('the keys of documents are in a folder or a bucket, apart from the documents', (t) => {
  const keysOf = (address: string, more = {}) => readConfig({ DISPATCH_KEYS: address, DISPATCH_DATA_DIR: '/srv/data', ...more }).dataKeys
  t.equal(readConfig({}).dataKeys, undefined)
  t.same(keysOf('/srv/keys/'), { folder: '/srv/keys' })
  t.same(keysOf('/srv/data/files-keys'), { folder: '/srv/data/files-keys' })
  t.same(keysOf('s3://keys/of/ours'), { bucket: { name: 'keys', prefix: 'of/ours/', region: 'us-east-1', pathStyle: false } })
  t.same(keysOf('s3://ours/keys', { DISPATCH_STORAGE: 's3://ours/documents' }), {
    bucket: { name: 'ours', prefix: 'keys/', region: 'us-east-1', pathStyle: false }
  })
  for (
    const [address, more, documents] of [
      ['/srv/data/files', {}, '/srv/data/files'],
      ['/srv/data/files/keys', {}, '/srv/data/files'],
      ['/srv/data', {}, '/srv/data/files'],
      ['s3://ours/documents/keys', { DISPATCH_STORAGE: 's3://ours/documents' }, 'DISPATCH_STORAGE'],
      ['s3://ours', { DISPATCH_STORAGE: 's3://ours/documents' }, 'DISPATCH_STORAGE']
    ] as const
  ) {
    t.throws(() => keysOf(address, more), {
      constructor: ConfigError,
      message: `DISPATCH_KEYS is not apart from the documents in ${documents}: a backup of these would hold the keys, too.`
    })
  }
  t.end()
})

void t.test('documents may have a bucket', (t) => {
  const storageOf = (address: string, more = {}) => readConfig({ DISPATCH_STORAGE: address, ...more }).storage
  t.same(storageOf('s3://documents'), { name: 'documents', prefix: '', region: 'us-east-1', pathStyle: false })
  t.same(
    storageOf('s3://documents/of/ours/?region=eu-central-1&endpoint=https://s3.example.com&encryption=aws:kms&kms-key=a1', {
      DISPATCH_S3_ACCESS_KEY_ID: 'id',
      DISPATCH_S3_SECRET_ACCESS_KEY: 'secret'
    }),
    {
      name: 'documents',
      prefix: 'of/ours/',
      region: 'eu-central-1',
      endpoint: 'https://s3.example.com',
      pathStyle: true,
      encryption: { algorithm: 'aws:kms', keyId: 'a1' },
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' }
    }
  )
  t.equal(storageOf('s3://documents?endpoint=http://localhost:9000&style=host')?.pathStyle, false)
  const production = { NODE_ENV: 'production', DISPATCH_PUBLIC_URL: 'https://dispatch.example.com' }
  t.throws(() => storageOf('s3://documents?endpoint=http://localhost:9000', production), /must be an https:\/\/ address/)
  t.throws(() => storageOf('s3://documents', { DISPATCH_S3_ACCESS_KEY_ID: 'id' }), /belong together/)
  t.end()
})

void t.test('each level of the log can be set', (t) => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
  t.same(levels.map((level) => readConfig({ DISPATCH_LOG_LEVEL: level }).logLevel), levels)
  t.end()
})

void t.test('every variable says what it says', (t) => {
  t.same(readConfig({
    NODE_ENV: 'production',
    HOST: '::1',
    PORT: '8080',
    DATABASE_URL: 'postgresql://user@db:6432/dispatch',
    DATABASE_DIRECT_URL: 'postgresql://user@db/dispatch',
    DATABASE_READ_URL: 'postgresql://user@replica/dispatch',
    DATABASE_READ_LAG: '3',
    DISPATCH_DB_POOL: '20',
    DISPATCH_PUBLIC_URL: 'https://dispatch.example.com/base/',
    DISPATCH_DATA_DIR: 'elsewhere',
    DISPATCH_PROVIDERS_DIR: ['/one', '', 'two'].join(delimiter),
    DISPATCH_SANDBOX: 'all',
    DISPATCH_SANDBOX_REQUIRED: 'off',
    DISPATCH_MASTER_KEY: 'key',
    DISPATCH_MASTER_KEY_PREVIOUS_FILE: 'before.key',
    DISPATCH_TLS_CERT: '/tls/cert.pem',
    DISPATCH_TLS_KEY: 'key.pem',
    DISPATCH_HTTP_PORT: '8081',
    DISPATCH_TRUSTED_PROXIES: ' 10.0.0.2, fd00::/8',
    DISPATCH_SECURITY_CONTACT: 'security@example.com',
    DISPATCH_PRICES: ' invoicing = 2,',
    DISPATCH_FILES_QUOTA: '5',
    DISPATCH_SCAN_URL: 'clamd://scanner',
    DISPATCH_RETENTION_DAYS: '7',
    DISPATCH_FORGET_MONTHS: '3',
    DISPATCH_WORKER: 'off',
    DISPATCH_CONCURRENCY: '4',
    DISPATCH_REQUEST_LOG: 'off',
    DISPATCH_LOG_BUDGET: '8',
    DISPATCH_CONSOLE: 'off',
    DISPATCH_DRAIN_DELAY: '15',
    DISPATCH_METRICS_PORT: '9464',
    DISPATCH_METRICS_HOST: '0.0.0.0',
    DISPATCH_LOG_LEVEL: 'warn',
    DISPATCH_AUTH_LIMIT: '0',
    DISPATCH_DISPATCH_LIMIT: '500',
    DISPATCH_VALIDATION_LIMIT: '20',
    DISPATCH_SMTP_NAME: 'mail.example.com'
  }), {
    environment: 'production',
    host: '::1',
    port: 8080,
    databaseUrl: 'postgresql://user@db:6432/dispatch',
    databaseDirectUrl: 'postgresql://user@db/dispatch',
    databaseReplica: { url: 'postgresql://user@replica/dispatch', lag: 3 },
    databasePool: 20,
    publicUrl: 'https://dispatch.example.com/base',
    dataDirectory: resolve('elsewhere'),
    providerDirectories: ['/one', resolve('two')],
    sandbox: 'all',
    sandboxWalls: 'optional',
    masterKey: 'key',
    previousMasterKeyFile: resolve('before.key'),
    tls: { cert: '/tls/cert.pem', key: resolve('key.pem') },
    httpPort: 8081,
    trustedProxies: ['10.0.0.2', 'fd00::/8'],
    securityContact: 'mailto:security@example.com',
    mailName: 'mail.example.com',
    prices: { invoicing: 2 },
    allowedNetworks: [],
    limits: { auth: 0, dispatch: 500, validation: 20, requests: 10_000 },
    webhookAuth: {},
    filesQuota: 5 * 1024 * 1024,
    scan: { host: 'scanner', port: 3310 },
    retentionDays: 7,
    forgetMonths: 3,
    runsWorker: false,
    concurrency: 4,
    keepsRequestLog: false,
    logBudget: 8,
    showsConsole: false,
    drainDelay: 15,
    metrics: { host: '0.0.0.0', port: 9464 },
    logLevel: 'warn'
  })
  t.equal(readConfig({ HOST: '::1', PORT: '1' }).publicUrl, 'http://[::1]:1')
  t.equal(readConfig({ HOST: 'localhost' }).host, '127.0.0.1', 'one address, of the two that the name may stand for')
  t.equal(readConfig({ HOST: '127.1.2.3', PORT: '65535' }).port, 65_535)
  t.end()
})

for (const [name, values] of Object.entries({
  NODE_ENV: ['test', 'Production'],
  HOST: ['0.0.0.0', '::', '192.168.1.2', '127.0.0.999', '127.example.com', 'example.com'],
  DISPATCH_SECURITY_CONTACT: ['Ada', 'http://example.com/security', 'javascript:alert(1)', 'a@b\nContact: c@d', 'mailto:a b'],
  DISPATCH_SMTP_NAME: [
    'localhost',
    'mail_1.example.com',
    '10.0.0.1',
    '[10.0.0.1]',
    'mail.example.com\r\nMAIL FROM:<>',
    '-a.example.com',
    'a b.example.com',
    'a.'.repeat(130) + 'com'
  ],
  DISPATCH_STORAGE: [
    '/srv/documents',
    's3://B',
    's3://key:secret@documents',
    's3://documents?acl=public',
    's3://documents?style=dns',
    's3://documents?encryption=aes',
    's3://documents?kms-key=1',
    's3://documents?endpoint=s3.example.com',
    's3://documents?endpoint=ftp://s3.example.com'
  ],
  DISPATCH_KEYS: ['keys', './keys', 's3://B', 's3://keys?acl=public', 's3://keys?style=dns', 's3://keys?encryption=aes',
    's3://keys?kms-key=1', 's3://keys?endpoint=ftp://s3.example.com'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['collector:4318', 'grpc://collector', 'http://'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['/v1/traces'],
  PORT: ['65536', '-1', '80a', '1e3', ' 80', '0x50'],
  DATABASE_URL: ['mysql://db/dispatch', 'postgres:db', 'db'],
  DATABASE_DIRECT_URL: ['postgres://db/dispatch'],
  DATABASE_READ_URL: ['postgres://replica/dispatch'],
  DATABASE_READ_LAG: ['0', '-1', '1.5', '10000'],
  DISPATCH_DB_POOL: ['0', '-1', '1000', '4.5', 'many'],
  DISPATCH_PUBLIC_URL: [
    'dispatch.example.com',
    'ftp://dispatch.example.com',
    'https://dispatch.example.com/?a=1',
    'https://dispatch.example.com/#a',
    'https://ada@dispatch.example.com'
  ],
  DISPATCH_PRICES: ['invoicing', 'invoicing=-1', 'invoicing=1.5', 'invoicing=1;sms=2', 'INVOICING=1', 'invoicng=1', 'invoicing=1000000'],
  DISPATCH_TRUSTED_PROXIES: ['loopback', '10.0.0.0/33', '10.0.0', 'proxy.example.com', '10.0.0.1/8/8', '*', 'fe80::1%eth0'],
  DISPATCH_AUTH_LIMIT: ['-1', '1.5', 'off', '1e3', '1000000000'],
  DISPATCH_DISPATCH_LIMIT: ['none'],
  DISPATCH_REQUEST_LIMIT: ['1e3'],
  DISPATCH_LOG_BUDGET: ['32MB'],
  DISPATCH_VALIDATION_LIMIT: ['none'],
  DISPATCH_WORKER: ['yes', 'true'],
  DISPATCH_CONCURRENCY: ['0', '-1', '1000', '4.5', 'many'],
  DISPATCH_RETENTION_DAYS: ['6', '0', '-90', '90.5', '90 days', '100000', '1e3'],
  DISPATCH_FORGET_MONTHS: ['2', '0', '-12', '12.5', '1 year', '10000', '1e2'],
  DISPATCH_CONSOLE: ['yes', 'OFF'],
  DISPATCH_DRAIN_DELAY: ['-1', '1.5', '301', '15s'],
  DISPATCH_METRICS_PORT: ['65536', '-1', '9464/metrics'],
  DISPATCH_LOG_LEVEL: ['verbose']
})) {
  void t.test(`a wrong ${name} is refused in one sentence that names it`, (t) => {
    for (const value of values) {
      t.throws(() => readConfig({ [name]: value }), { constructor: ConfigError, message: new RegExp(`^${name} (is|has) .*\\.$`) }, value)
    }
    t.end()
  })
}

void t.test('traces are sent where OpenTelemetry says, by its own variables', (t) => {
  const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp/' }
  const tracesOf = (more: NodeJS.ProcessEnv) => readConfig({ ...collector, ...more }).traces
  t.same(tracesOf({}), {
    url: 'https://collector.example.com/otlp/v1/traces',
    sampler: { name: 'parentbased_always_on', ratio: 1 }
  })
  t.same(
    tracesOf({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other:4318/own',
      OTEL_SERVICE_NAME: 'dispatch-eu',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.05'
    }),
    { url: 'http://other:4318/own', serviceName: 'dispatch-eu', sampler: { name: 'traceidratio', ratio: 0.05 } }
  )
  t.equal(tracesOf({ OTEL_SDK_DISABLED: 'True' }), undefined)
  t.equal(readConfig({ OTEL_SERVICE_NAME: 'dispatch' }).traces, undefined)
  for (const [name, value] of [['OTEL_TRACES_SAMPLER', 'jaeger_remote'], ['OTEL_TRACES_SAMPLER_ARG', '2'], ['OTEL_TRACES_SAMPLER_ARG',
    '1e-2'], ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc']] as const)
  {
    t.throws(() => tracesOf({ [name]: value }), { constructor: ConfigError, message: new RegExp(`^${name} is "${value}"; .*\\.$`) })
  }
  t.throws(() => readConfig({ OTEL_EXPORTER_OTLP_ENDPOINT: 'ada:secret' }), { message: /^(?!.*secret)/ })
  t.end()
})

void t.test('production needs to know where links lead', (t) => {
  t.throws(() => readConfig({ NODE_ENV: 'production' }), { message: /^DISPATCH_PUBLIC_URL is not set/ })
  t.end()
})

void t.test('production is told of over HTTPS only', (t) => {
  t.throws(() => readConfig({ NODE_ENV: 'production', DISPATCH_PUBLIC_URL: 'http://dispatch.example.com' }), {
    message: /^DISPATCH_PUBLIC_URL is "http:/
  })
  t.end()
})

void t.test('the service listens for everybody when it speaks TLS, or a proxy in front of it does', (t) => {
  for (const encrypted of [{ DISPATCH_TLS_CERT: 'cert.pem', DISPATCH_TLS_KEY: 'key.pem' }, { DISPATCH_TRUSTED_PROXIES: '10.0.0.0/8' }]) {
    for (const HOST of ['0.0.0.0', '::', '192.168.1.2']) t.equal(readConfig({ ...encrypted, HOST }).host, HOST)
    t.throws(() => readConfig({ ...encrypted, HOST: 'example.com' }), { message: /^HOST is "example.com"; it must be an address/ })
  }
  t.equal(readConfig({ DISPATCH_TLS_CERT: 'cert.pem', DISPATCH_TLS_KEY: 'key.pem' }).publicUrl, 'https://127.0.0.1:3000')
  t.end()
})

for (const [name, [env, sentence]] of Object.entries<[Record<string, string>, RegExp]>({
  'a certificate without its key': [{ DISPATCH_TLS_CERT: 'cert.pem' }, /^DISPATCH_TLS_CERT and DISPATCH_TLS_KEY belong together/],
  'a key without its certificate': [{ DISPATCH_TLS_KEY: 'key.pem' }, /^DISPATCH_TLS_CERT and DISPATCH_TLS_KEY belong together/],
  'a port for plain HTTP without TLS': [{ DISPATCH_HTTP_PORT: '80' }, /^DISPATCH_HTTP_PORT is where plain HTTP is refused beside TLS/],
  'such a port that is none': [
    { DISPATCH_HTTP_PORT: 'http', DISPATCH_TLS_CERT: 'cert.pem', DISPATCH_TLS_KEY: 'key.pem' },
    /^DISPATCH_HTTP_PORT is "http"/
  ],
  'a master key twice': [
    { DISPATCH_MASTER_KEY: 'geheim', DISPATCH_MASTER_KEY_FILE: 'key' },
    /^DISPATCH_MASTER_KEY and DISPATCH_MASTER_KEY_FILE are both set(?!.*geheim)/
  ]
})) {
  void t.test(`${name} is refused`, (t) => {
    t.throws(() => readConfig(env), { constructor: ConfigError, message: sentence })
    t.end()
  })
}

void t.test('several hosts of a database are taken as libpq writes them', (t) => {
  const several = 'postgres://user:ge%40heim@h1:5432,h2:5433/dispatch?target_session_attrs=read-write'
  t.same(readConfig({ DATABASE_URL: several, DATABASE_DIRECT_URL: several }).databaseUrl, several)
  const one = (url: string) => ({ DATABASE_URL: 'postgres://db/dispatch', ...(url === '' ? {} : { DATABASE_READ_URL: url }) })
  for (const [env, message] of [
    [{ DATABASE_URL: 'postgres://user:geheim@h1,h2/dispatch' },
      'DATABASE_URL names several hosts: add target_session_attrs=read-write, so that the one is used that takes writes.'],
    [{ DATABASE_URL: 'postgres://user:geheim@h1/dispatch?target_session_attrs=standby' },
      'DATABASE_URL must have target_session_attrs=read-write, because the service writes.'],
    [one(several), 'DATABASE_READ_URL must name one host, without target_session_attrs.'],
    [one('postgres://user:geheim@h1,h2/dispatch?target_session_attrs=standby'),
      'DATABASE_READ_URL must name one host, without target_session_attrs.']
  ] as const) t.throws(() => readConfig(env), { message })
  t.end()
})

void t.test('a refused DATABASE_URL is not repeated: it may hold a password', (t) => {
  t.throws(() => readConfig({ DATABASE_URL: 'mysql://user:geheim@db/dispatch' }), { message: /^(?!.*geheim)/ })
  t.end()
})

void t.test('a scanner of files is at an address, a port or a socket; a quota is a whole number of MiB', (t) => {
  const scanOf = (text: string): unknown => readConfig({ DISPATCH_SCAN_URL: text }).scan
  t.same(scanOf('https://scan.example.com/scan'), { url: 'https://scan.example.com/scan' })
  t.same(scanOf('clamd://scanner:99'), { host: 'scanner', port: 99 })
  t.same(scanOf('clamd:/run/clamav/clamd.ctl'), { path: '/run/clamav/clamd.ctl' })
  for (const wrong of ['scanner', 'ftp://scanner', 'clamd://scanner/x', 'clamd:', 'clamd://user@scanner']) {
    t.throws(() => scanOf(wrong), ConfigError, wrong)
  }
  for (const wrong of ['0', '-1', '1.5', '1 MiB']) t.throws(() => readConfig({ DISPATCH_FILES_QUOTA: wrong }), ConfigError, wrong)
  t.end()
})

void t.test('Peppol is looked up where the operator has the certificates of its authorities', async (t) => {
  const [authority, other] = [await createAuthority(), await createAuthority()]
  const files = t.testdir({
    'authorities.pem': `Peppol\n${authority.ca}\n${other.ca}`,
    'server.pem': (await authority.issue('smp.example')).cert,
    'empty.pem': ''
  })
  const peppolOf = (file: string, zone?: string): Config['peppol'] =>
    readConfig({ DISPATCH_PEPPOL_AUTHORITIES: join(files, file), ...(zone !== undefined && { DISPATCH_PEPPOL_ZONE: zone }) }).peppol
  t.equal(peppolOf('authorities.pem')?.zone, 'participant.sml.prod.tech.peppol.org')
  t.equal(peppolOf('authorities.pem')?.authorities.length, 2)
  t.equal(peppolOf('authorities.pem', 'participant.sml.test.tech.peppol.org')?.zone, 'participant.sml.test.tech.peppol.org')
  for (const file of ['server.pem', 'empty.pem', 'absent.pem']) {
    t.throws(() => peppolOf(file), { name: 'ConfigError', message: /DISPATCH_PEPPOL_AUTHORITIES/ }, file)
  }
  t.throws(() => peppolOf('authorities.pem', 'no zone'), { message: /DISPATCH_PEPPOL_ZONE is "no zone"/ })
})
