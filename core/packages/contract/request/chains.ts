import { type ServiceName, serviceNames, services } from '@dispatch/services'

/** The services of a path, in its order. */
export type ServicePath = readonly [ServiceName, ...ServiceName[]]

/** How many services a path may name. */
export const longestChain = 4

/** The services that create the document of a chain. */
export const chainBeginners: readonly ServiceName[] = serviceNames.filter((name) => services[name].chain.produces === 'document')

/** The services that can do something with the document of a chain. */
export const chainFollowers: readonly ServiceName[] = serviceNames.filter((name) => services[name].chain.consumes !== undefined)

/** The services that may come next in a path: all of them in an empty one. */
export function whatMayFollow (path: readonly ServiceName[]): readonly ServiceName[] {
  const [first] = path
  if (first === undefined) return serviceNames
  const isOver = path.length >= longestChain || path.some((name) => services[name].chain.last === true)
  return isOver || !chainBeginners.includes(first) ? [] : chainFollowers.filter((name) => !path.includes(name))
}

/** Whether every service of the path may have its position. A single service always may. */
export function isPath (path: readonly ServiceName[]): path is ServicePath {
  return path.length > 0 && path.every((name, index) => whatMayFollow(path.slice(0, index)).includes(name))
}

/** A sentence about why the services of a path are no chain, and which would be; undefined for a valid chain. */
export function chainFault (path: readonly ServiceName[]): string | undefined {
  const wrong = path.findIndex((name, index) => !whatMayFollow(path.slice(0, index)).includes(name))
  if (wrong < 1) return undefined
  const before = path.slice(0, wrong)
  const next = whatMayFollow(before)
  const instead = next.length > 0
    ? `there may follow ${next.join(', ')}`
    : `nothing may follow it; a chain begins with ${chainBeginners.join(', ')}, and has ${longestChain} services at most`
  return `"${path[wrong] ?? ''}" cannot follow "${before.join('/')}": ${instead}.`
}

/** Every path of two or more services, the shorter ones first. */
export const chains: readonly ServicePath[] = longerThan(serviceNames.map((name) => [name]))

function longerThan (paths: readonly ServicePath[]): ServicePath[] {
  const longer = paths.flatMap((path) => whatMayFollow(path).map((name): ServicePath => [...path, name]))
  return longer.length === 0 ? [] : [...longer, ...longerThan(longer)]
}
