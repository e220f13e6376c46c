/** Places on the page of a dispatch to which the failure of a step leads. */
export const anchors = { retry: 'retry', anew: 'anew', resolve: 'resolve', correct: (service: string): string => `correct-${service}` }
