/** Changing profiles: all that depends on them is read again. */
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { faultOf } from "../parts/form";
import { tellFailure, toast } from "../parts/toasts";

export function useProfileChange<T>(run: (given: T) => Promise<unknown>, told: string, done?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    onSuccess: () => {
      toast(told);
      done?.();
      return Promise.all(["profiles", "thresholds", "costs", "session", "answering", "preview"].map((name) => client.invalidateQueries({ queryKey: [name] })));
    },
    onError: (error) => faultOf(error, "") ?? tellFailure(error),
  });
}
