// Parsers of what cameras answer by ONVIF: XML, envelopes, profiles, answers to discovery.

import assert from 'node:assert/strict'
import { parseProbeMatches } from '../../../server/ingest/onvif/discovery-message.ts'
import { mediaServices } from '../../../server/ingest/onvif/onvif-profiles.ts'
import { readEnvelope } from '../../../server/ingest/onvif/soap.ts'
import { parseXml, type XmlElement, xmlLimits } from '../../../server/ingest/onvif/xml.ts'
import type { FuzzTarget } from '../fuzz-target.ts'
import { catchOwn, few } from '../own-error.ts'

const encode = (text: string) => new TextEncoder().encode(text)

const envelope = (body: string, header = '') =>
  encode(
    `<?xml version="1.0"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header>${header}</s:Header><s:Body>${body}</s:Body></s:Envelope>`,
  )

const depthOf = ({ children }: XmlElement): number => 1 + Math.max(0, ...children.map(depthOf))

const words = [
  '<a>',
  '</a>',
  '<a b="',
  '"/>',
  '<![CDATA[',
  ']]>',
  '<!--',
  '-->',
  '<!DOCTYPE a [<!ENTITY b "c">]>',
  '&#x41;',
  '&#99999999;',
  '&amp;',
  '<__proto__>',
  'constructor="1"',
  '<a>'.repeat(40),
  '<b/>'.repeat(500),
]

const answerTarget: FuzzTarget = {
  name: 'onvif',
  seeds: () => [
    envelope(
      '<GetProfilesResponse><Profiles token="a"><Name>main</Name><VideoEncoderConfiguration><Encoding>H264</Encoding><Resolution><Width>640</Width><Height>360</Height></Resolution><RateControl><FrameRateLimit>25</FrameRateLimit></RateControl></VideoEncoderConfiguration></Profiles></GetProfilesResponse>',
    ),
    envelope(
      '<r:GetProfilesResponse><r:Profiles token="b&amp;c"><Configurations><VideoEncoder><Encoding>H265</Encoding></VideoEncoder><AudioEncoder/></Configurations></r:Profiles></r:GetProfilesResponse>',
    ),
    envelope(
      '<s:Fault><s:Code><s:Value>s:Sender</s:Value><s:Subcode><s:Value>ter:NotAuthorized</s:Value></s:Subcode></s:Code></s:Fault>',
    ),
    envelope('<MediaUri><Uri><![CDATA[rtsp://a/?b=1&c=2]]></Uri></MediaUri>'),
  ],
  words: [...words, '<s:Fault>', '<s:Subcode>', '<Profiles token="x">', '<VideoEncoder>', '<Width>1e9</Width>'],
  run(input) {
    let outcome = ''
    const error = catchOwn(() => {
      const read = parseXml(input)
      assert.ok(depthOf(read) <= xmlLimits.depth + 1, 'elements in each other are bounded')
      const content = readEnvelope(read, input.length % 2 === 0)
      for (const service of mediaServices) {
        const profiles = service.readProfiles(content)
        for (const { token, name, width = 1 } of profiles) {
          assert.ok(token !== '' && name.length <= 100 && !/\p{Cc}/u.test(name) && width > 0 && width < 1e6)
          parseXml(encode(`<a xmlns:tt="t" xmlns:trt="u" xmlns:tr2="v">${service.getStreamUri(token)}</a>`))
        }
        outcome += few(profiles.length)
      }
    })
    return error ?? outcome
  },
}

const discoveryTarget: FuzzTarget = {
  name: 'discovery',
  seeds: () => [
    envelope(
      '<d:ProbeMatches><d:ProbeMatch><w:EndpointReference><w:Address>urn:uuid:2</w:Address></w:EndpointReference><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>onvif://www.onvif.org/name/Front%20door onvif://www.onvif.org/location/x</d:Scopes><d:XAddrs>http://192.168.1.20/onvif/device_service http://[fe80::1]/</d:XAddrs></d:ProbeMatch></d:ProbeMatches>',
      '<w:RelatesTo>urn:uuid:1</w:RelatesTo>',
    ),
  ],
  words: [...words, '<d:ProbeMatch>', 'http://', 'uuid:1', 'onvif://www.onvif.org/name/', '%ff', '<d:XAddrs>'],
  run(input) {
    let outcome = ''
    const error = catchOwn(() => {
      const matches = parseProbeMatches(input, new Set(['1']))
      for (const { id, urls, name = '' } of matches) {
        assert.ok(id !== '' && id.length <= 200 && name.length <= 100 && urls.length > 0 && urls.length <= 8)
        assert.ok(urls.every((url) => /^https?:\/\//i.test(url)))
      }
      outcome = few(matches.length)
    })
    return error ?? outcome
  },
}

export const onvifTargets: readonly FuzzTarget[] = [answerTarget, discoveryTarget]
