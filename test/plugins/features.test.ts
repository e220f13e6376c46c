import { Nothing } from '@dispatch/contract'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createServer } from '../../plugins/app.ts'
import { createApp } from '../../plugins/container.ts'
import { defineFeature, type Feature, service, token } from '../../plugins/features/feature.ts'
import { findFeatures, inOrder } from '../../plugins/features/find-features.ts'
import type { Resolve, Token } from '../../plugins/features/token.ts'
import { createLogger } from '../../plugins/hooks/logging.ts'
import { contains } from '../support/matching.ts'
import { seededDatabase, testConfig } from '../support/service.ts'

type Ink = { colour: string }
const ink = token<Ink>('ink')
const paper = token<{ size: string }>('paper')

const named = (features: readonly Feature[]): string[] => features.map(({ name }) => name)
const inks = defineFeature({ name: 'inks', needs: {}, provides: (provide) => [provide(ink, () => ({ colour: 'blue' }))] })
const pens = defineFeature({ name: 'pens', needs: { ink } })

/** The features of the service with others. */
const besideShipped = async (...features: Feature[]): Promise<Feature[]> => inOrder([...await findFeatures(), ...features])

await t.test('a feature stands after what it needs, else features stand by name', (t) => {
  t.same(named(inOrder([pens, inks])), ['inks', 'pens'])
  t.same(named(inOrder([inks, pens])), ['inks', 'pens'])
  t.throws(() => inOrder([pens]), { message: 'The feature "pens" needs "ink", which no feature provides.' })
  t.throws(() => inOrder([inks, { ...inks, name: 'more-inks' }]), { message: 'The features "inks" and "more-inks" both provide "ink".' })
  const one = defineFeature({ name: 'one', needs: { paper }, provides: (provide) => [provide(ink, () => ({ colour: 'red' }))] })
  const two = defineFeature({ name: 'two', needs: { ink }, provides: (provide) => [provide(paper, () => ({ size: 'A4' }))] })
  t.throws(() => inOrder([one, two]), { message: 'The features need each other: one → two → one.' })
  t.end()
})

await t.test('a feature is given what it has declared, when it first uses it, and nothing else', async (t) => {
  const seen: string[] = []
  const feature = defineFeature({
    name: 'seen',
    needs: { ...service('now'), ink },
    provides: (provide) => [
      provide(paper, (given) => {
        // @ts-expect-error: `log` is not among the needs.
        t.equal(given.log, undefined)
        seen.push(given.ink.colour)
        return { size: given.now().toISOString() }
      })
    ]
  })
  t.same(feature.provided, ['paper'])
  const found: Readonly<Record<string, unknown>> = { ink: { colour: 'blue' }, now: () => new Date(0) }
  const { provisions: [provision] } = feature.bind(<Dependency>({ name }: Token<Dependency>): Dependency => found[name] as Dependency)
  t.same(seen, [])
  t.same(provision?.create(), { size: '1970-01-01T00:00:00.000Z' })
  t.same(seen, ['blue'])
  await Promise.resolve()
})

await t.test('what copies all needs where it provides one of them is told that it needs itself', (t) => {
  const feature = defineFeature({
    name: 'inks',
    needs: { ink },
    provides: (provide) => [provide(ink, (given) => ({ ...given.ink, ...given }))]
  })
  const { provisions: [provision] } = feature.bind((() => provision?.create()) as Resolve)
  t.throws(() => provision?.create(), {
    message: '"ink" needs itself before it is made: its provision may use all other needs, each by name.'
  })
  t.end()
})

await t.test('folders are features; what is wrong with one is a sentence with its place', async (t) => {
  const folder = t.testdir()
  const add = (name: string, text: string): string => {
    mkdirSync(join(folder, name))
    writeFileSync(join(folder, name, 'index.ts'), text)
    return join(folder, name, 'index.ts')
  }
  t.same(await findFeatures(join(folder, 'absent')), [])
  add('alpha', 'export default { name: \'alpha\', needs: {}, provided: [], bind () { return { provisions: [] } } }')
  t.same(named(await findFeatures(folder)), ['alpha'])
  const path = add('beta', 'export default { name: \'gamma\', needs: {}, provided: [], bind () { return { provisions: [] } } }')
  await t.rejects(findFeatures(folder), { message: `The feature of ${path} is called "gamma": its name is that of its folder.` })
  const other = t.testdir({
    delta: { 'index.ts': 'export const feature = 1' }
  })
  await t.rejects(findFeatures(other), {
    message: `The default export of ${join(other, 'delta/index.ts')} is no feature: it is made by defineFeature.`
  })
  const astray = t.testdir({
    epsilon: {
      'index.ts':
        'export default { name: \'epsilon\', needs: {}, provided: [], migrations: { \'001-x\': 1 }, bind () { return { provisions: [] } } }'
    }
  })
  await t.rejects(findFeatures(astray), { message: 'The migration "001-x" of the feature "epsilon" must be called "epsilon/…".' })
})

await t.test('a route of a feature without a permission ends the start', async (t) => {
  const feature = defineFeature({
    name: 'open',
    needs: {},
    routes (app, _options, done) {
      app.get('/api/v1/open', { schema: { operationId: 'readOpen' } }, () => '')
      done()
    }
  })
  const log = createLogger('silent')
  const app = await createApp(testConfig(t.testdir()), {
    databaseUrl: await seededDatabase(t),
    log,
    features: await besideShipped(feature)
  })
  t.teardown(app.close)
  await t.rejects(createServer(app, log), {
    message: 'The feature "open" does not say who may ask for GET /api/v1/open: its permissions lack "readOpen".'
  })
})

await t.test('a feature provides nothing under a name of the service', async (t) => {
  const database = token<object>('database')
  const feature = defineFeature({ name: 'clash', needs: {}, provides: (provide) => [provide(database, () => ({}))] })
  const log = createLogger('silent')
  await t.rejects(createApp(testConfig(t.testdir()), { databaseUrl: await seededDatabase(t), log, features: await besideShipped(feature) }),
    {
      message: 'The feature "clash" provides "database", which the service itself has.'
    })
})

await t.test('without the feature that the service needs it does not start', async (t) => {
  const features = (await findFeatures()).filter(({ name }) => name !== 'templates')
  await t.rejects(createApp(testConfig(t.testdir()), { databaseUrl: await seededDatabase(t), log: createLogger('silent'), features }), {
    message: 'No feature provides "templates", without which no service is started.'
  })
})

await t.test('operations of a feature stand in the OpenAPI document where it says, else last', async (t) => {
  const ofName = (name: string, before?: string): Feature =>
    defineFeature({
      name,
      needs: {},
      ...before === undefined ? {} : { before },
      permissions: { [`read-${name}`]: {} },
      routes (app, _options, done) {
        app.get(`/api/v1/${name}`, { config: { errors: [] }, schema: { operationId: `read-${name}` } }, () => '')
        done()
      }
    })
  const log = createLogger('silent')
  const app = await createApp(testConfig(t.testdir()), {
    databaseUrl: await seededDatabase(t),
    log,
    features: await besideShipped(ofName('early', 'listTemplates'), ofName('late'))
  })
  const server = await createServer(app, log)
  t.teardown(async () => {
    await server.close()
    await app.close()
  })
  const { paths } = (await server.inject({ url: '/openapi.json', headers: { 'x-forwarded-proto': 'https' } })).json<{ paths: object }>()
  const all = Object.keys(paths)
  t.equal(all.indexOf('/api/v1/early') + 1, all.indexOf('/api/v1/templates'))
  t.ok(all.indexOf('/api/v1/late') > all.indexOf('/healthz'))
})

await t.test('what is public is so for all that looks at a new route: it takes any query, and small bodies', async (t) => {
  const feature = defineFeature({
    name: 'open',
    needs: {},
    permissions: { readOpen: { public: true } },
    routes (app, _options, done) {
      app.get('/open', { config: { errors: [] }, schema: { operationId: 'readOpen', response: { 204: Nothing } } },
        (_request, reply) => reply.code(204).send())
      done()
    }
  })
  const log = createLogger('silent')
  const app = await createApp(testConfig(t.testdir()), {
    databaseUrl: await seededDatabase(t),
    log,
    features: await besideShipped(feature)
  })
  const server = await createServer(app, log)
  t.teardown(async () => {
    await server.close()
    await app.close()
  })
  t.equal((await server.inject('/open?any=1')).statusCode, 204)
})

await t.test('the page of features shows the definition that a test adds to a checkout', (t) => {
  const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
  contains(t, read('core/packages/features/README.md'), read('test/fixtures/features/notes/index.ts'))
  t.end()
})

await t.test('work beside requests begins with the service and ends with it', async (t) => {
  const done: string[] = []
  const feature = defineFeature({
    name: 'clock',
    needs: { ...service('now'), ink },
    work: ({ ink }) => {
      done.push(`begins in ${ink.colour}`)
      return {
        [Symbol.asyncDispose] () {
          done.push('ends')
          return Promise.resolve()
        }
      }
    }
  })
  const app = await createApp(testConfig(t.testdir()), {
    databaseUrl: await seededDatabase(t),
    log: createLogger('silent'),
    features: await besideShipped(feature, inks)
  })
  t.same(done, ['begins in blue'])
  await app.close()
  t.same(done, ['begins in blue', 'ends'])
})
