import { AgenticError } from "@shedkit/types";
import { type Machine, planModel } from "../plan.js";
import type { ChosenVariant, ModelVariant } from "../variants.js";
import { readHubHeaders } from "./read-headers.js";
import type { HubFile, HubRepository } from "./repository.js";
import type { Hub } from "./settings.js";

/** A model that takes no more of the machine than this fits, whatever its layers are: nothing is asked about it. */
const CERTAIN_SHARE = 0.4;

/** For what a variant is chosen. */
export interface MachineWish {
  machine: Machine;
  /** In tokens; see `PlanOptions`. */
  contextLength?: number | undefined;
  /** Whether a variant is here already. */
  isHere(variant: ModelVariant<HubFile>): Promise<boolean>;
}

/**
 * The variant to take on a machine, where nobody named one: the usual one, or a smaller one where that does not fit,
 * rather one that is here already. Only where the usual one is large for the machine are headers read.
 */
export async function chooseForMachine(
  hub: Hub,
  repository: HubRepository,
  variants: readonly ModelVariant<HubFile>[],
  usual: ChosenVariant<HubFile>,
  { machine, contextLength, isHere }: MachineWish,
  signal: AbortSignal | undefined,
): Promise<ChosenVariant<HubFile>> {
  const room = machine.memory + (machine.gpuMemory ?? 0);
  if (usual.variant.bytes <= CERTAIN_SHARE * room) return usual;
  try {
    const headers = await readHubHeaders(hub, repository, usual.variant.files, signal);
    const planned = (choices: readonly ModelVariant<HubFile>[]) =>
      planModel(choices, headers, machine, { contextLength });
    const here = await whichAre(variants, isHere);
    const cached = here.length > 0 ? planned(here) : undefined;
    const plan = cached?.fits ? cached : planned(variants);
    const variant = variants.find(({ files }) => files[0]?.path === plan.variant.files[0]?.path);
    return variant ? { variant, reason: plan.why } : usual;
  } catch (error) {
    if (AgenticError.is(error, "cancelled")) throw error;
    return usual; // the download tells what is wrong with the file, or with the hub
  }
}

async function whichAre<T>(items: readonly T[], test: (item: T) => Promise<boolean>): Promise<T[]> {
  const kept: T[] = [];
  for (const item of items) if (await test(item)) kept.push(item);
  return kept;
}
