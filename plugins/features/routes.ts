import type { FastifyPluginAsync } from 'fastify'
import plugin from 'fastify-plugin'
import type { BoundFeature, Permission } from './feature.ts'

/** To which feature the routes of a context belong, and who may ask for each of their operations. */
type Belonging = { name: string, permissions: Readonly<Record<string, Permission>>, before: string | undefined, unsaid: string[] }

const belonging = Symbol('feature')

declare module 'fastify' {
  interface FastifyContextConfig {
    /** To which feature the route belongs. */
    feature?: string
    /** The operation before which it stands in the OpenAPI document. */
    before?: string | undefined
  }
  interface FastifyInstance {
    [belonging]?: Belonging
  }
}

/** Gives the routes of features their permissions: before whatever else looks at the configuration of a new route. */
export const featurePermissionsPlugin = plugin((app, _options, done) => {
  app.addHook('onRoute', function (route) {
    const feature = this[belonging]
    if (feature === undefined) return
    const { name, permissions, before, unsaid } = feature
    const operation = route.schema?.operationId ?? ''
    const permission = Object.hasOwn(permissions, operation) ? permissions[operation] : undefined
    if (permission === undefined) unsaid.push(`${String(route.method)} ${route.url}: its permissions lack "${operation}"`)
    route.config = { ...route.config, ...permission, feature: name, before }
  })
  done()
}, { name: 'feature-permissions', fastify: '5.x' })

/** The routes of a feature, in a context of their own: its hooks and decorators reach no other route. */
export function featureRoutes ({ name, permissions = {}, routes, before }: BoundFeature): FastifyPluginAsync {
  return plugin(async (app) => {
    if (routes === undefined) return
    const unsaid: string[] = []
    app[belonging] = { name, permissions, before, unsaid }
    await app.register(routes.plugin, routes.options)
    // Thrown here and not above, where a plugin with a callback could not catch it.
    const [first] = unsaid
    if (first !== undefined) throw new Error(`The feature "${name}" does not say who may ask for ${first}.`)
  }, { name, fastify: '5.x', encapsulate: true, dependencies: ['feature-permissions'] })
}
