// The operations under /v1: the contract's endpoints with the descriptions of contract/description/.

import type { TSchema } from 'typebox'
import type { AnyOperationText } from '../../../contract/description/operation-text.ts'
import { operationTexts } from '../../../contract/description/operation-texts.ts'
import {
  type PathName,
  pathTexts,
  type QueryName,
  queryExamples,
} from '../../../contract/description/parameter-texts.ts'
import type { Endpoint } from '../../../contract/endpoint.ts'
import { type EndpointName, endpointNames, endpoints } from '../../../contract/endpoints.ts'
import type { Method, Operation, Parameter, RequestBody, Response, Schema, SecurityRequirement } from './openapi.ts'
import { listRefusals, type RefusalStatus, rateHeaders, referToRefusal, writeRefusal } from './refusals.ts'
import type { SchemaWriter } from './schemas.ts'

/** Returns the operations by path and method, in the order of the contract. */
export function writeOperations(schemas: SchemaWriter): Map<string, { [M in Method]?: Operation }> {
  const paths = new Map<string, { [M in Method]?: Operation }>()
  for (const name of endpointNames) {
    const endpoint: Endpoint = endpoints[name]
    const item = paths.get(endpoint.path) ?? {}
    item[endpoint.method.toLowerCase() as Method] = writeOperation(name, endpoint, operationTexts[name], schemas)
    paths.set(endpoint.path, item)
  }
  return paths
}

function writeOperation(
  name: EndpointName,
  endpoint: Endpoint,
  text: AnyOperationText,
  schemas: SchemaWriter,
): Operation {
  const { summary, params, query, body, isExtension } = endpoint
  const parameters = [...writeParameters('path', params, schemas), ...writeParameters('query', query, schemas)]
  const description = isExtension ? `Extension. ${text.description}` : text.description
  return {
    operationId: name,
    tags: [text.tag],
    summary: summary.replace(/\.$/, ''),
    description,
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: writeBody(body, text, schemas) }),
    responses: writeResponses(endpoint, text, schemas),
    security: writeSecurity(endpoint),
    ...(isExtension && { 'x-nightjar-extension': true }),
  }
}

function writeParameters(place: 'path' | 'query', schema: TSchema | undefined, schemas: SchemaWriter): Parameter[] {
  if (schema === undefined) return []
  // Converts the schema to plain JSON, because the mark of optional properties is not part of JSON Schema.
  const { properties = {}, required = [] } = JSON.parse(JSON.stringify(schema)) as Schema
  return Object.entries(properties).map(([name, property]) => {
    const { description, 'x-nightjar-extension': isOurs, ...rest } = schemas.write(property as TSchema) as Schema
    const known = place === 'path' ? pathTexts[name as PathName] : undefined
    return {
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      description: description ?? known?.description ?? name,
      ...(isOurs && { 'x-nightjar-extension': true }),
      schema: rest,
      example: known?.example ?? queryExamples[name as QueryName],
    }
  })
}

function writeBody(schema: TSchema, { bodies = {} }: AnyOperationText, schemas: SchemaWriter): RequestBody {
  const examples = Object.entries(bodies).map(
    ([summary, value], index) => [`example${index + 1}`, { summary, value }] as const,
  )
  return {
    required: true,
    content: { 'application/json': { schema: schemas.write(schema), examples: Object.fromEntries(examples) } },
  }
}

function writeResponses(endpoint: Endpoint, text: AnyOperationText, schemas: SchemaWriter): Operation['responses'] {
  const { status, result } = endpoint
  const success: Response = {
    description: successTexts[status],
    headers: rateHeaders,
    ...(status !== 204 && {
      content: { 'application/json': { schema: schemas.write(result), example: text.answer } },
    }),
  }
  const refusals = listRefusals(endpoint, text).map((refusal) => [refusal, refuse(refusal, text, schemas)] as const)
  return { [status]: success, ...Object.fromEntries(refusals) }
}

const successTexts = { 200: 'Done.', 201: 'Created.', 204: 'Done; the answer is empty.' } as const

function refuse(status: RefusalStatus, { refusals = {} }: AnyOperationText, schemas: SchemaWriter) {
  const description = (refusals as { [status: number]: string })[status]
  return description === undefined ? referToRefusal(status) : writeRefusal(status, schemas, description)
}

/** Any one of the returned requirements is sufficient. */
function writeSecurity({ access: { all, or }, hasBodyCredential }: Endpoint): SecurityRequirement[] {
  const choices = [all, ...(or === undefined ? [] : [[or]])]
  return [
    ...['oauth2', 'personalAccessToken'].flatMap((scheme) => choices.map((scopes) => ({ [scheme]: scopes }))),
    ...(hasBodyCredential ? [{}] : []),
  ]
}
