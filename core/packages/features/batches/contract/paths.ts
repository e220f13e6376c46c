import { chainFault, type ServicePath } from '@dispatch/contract'
import { jsonServices } from '@dispatch/services'

/** What a row may be sent by: each service alone, and each two that may follow each other. */
export const servicePaths: readonly ServicePath[] = jsonServices.flatMap((first): ServicePath[] => [
  [first],
  ...jsonServices.map((next): ServicePath => [first, next]).filter((path) => chainFault(path) === undefined)
])
