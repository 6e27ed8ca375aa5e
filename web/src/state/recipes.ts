/** The recipes, and the one that is used where none is named. */
import { useQuery } from "@tanstack/react-query";
import { api, got, type Schemas } from "../api/client";

export const RECIPES = ["recipes"] as const;

export function useRecipes() {
  return useQuery<Schemas["RecipesView"]>({ queryKey: RECIPES, queryFn: ({ signal }) => got(api.GET("/api/recipes", { signal })) });
}
