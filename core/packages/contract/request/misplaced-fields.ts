import type { Problem } from '@dispatch/common'
import { isServiceName, type ServiceName } from '@dispatch/services'
import type { TObject } from 'typebox'
import { isPath } from './chains.ts'

/** Says where an unknown field belongs, if requests for these services have such a field elsewhere. `schema`: that of the bodies. */
export function createMisplacedFieldHint (path: readonly ServiceName[], { properties }: TObject): (problem: Problem) => Problem {
  const top = Object.keys(properties)
  const objects = Object.entries<{ properties?: object }>(properties).map(([name, { properties = {} }]) => ({
    name,
    fields: Object.keys(properties)
  }))

  /** The right path of a field that was found in the wrong object (undefined: at the top level). */
  function placeOf (field: string, object: string | undefined): string | undefined {
    const holder = objects.find(({ name, fields }) => name !== object && fields.includes(field))
    if (holder !== undefined) return `/${holder.name}/${field}`
    return object !== undefined && top.includes(field) ? `/${field}` : undefined
  }

  return (problem) => {
    const [, object, field] = /^(?:\/([a-z]+))?\/([^/]+)$/.exec(problem.path) ?? []
    if (problem.code !== 'unknown_field' || field === undefined) return problem
    const place = placeOf(field, object)
    if (place !== undefined) return { ...problem, message: `The field "${field}" is in the wrong place: it belongs to "${place}".` }
    return object === undefined && isServiceName(field) ? { ...problem, message: notInPath(field, path) } : problem
  }
}

/** The problem of an object for a service that the request does not use. */
function notInPath (service: ServiceName, path: readonly ServiceName[]): string {
  const longer = [...path, service]
  return `The service "${service}" is not in the path of the request${isPath(longer) ? `: POST /api/${longer.join('/')} does both` : ''}.`
}
