"""A small module in each of six languages, and the heads of what it defines."""

PYTHON = '''\
import re
from pathlib import Path

LIMIT = 7


class Alpha(Base):
    """What alpha is.

    And more of it.
    """

    def total(
        self,
        lines,
    ) -> int:
        """The sum of all lines."""
        found = 0
        for line in lines:
            found += line.cents
        return found

    @property
    def name(self):
        # never empty
        return self._name or "alpha"


async def main():
    print(Alpha().total([]))
'''
TYPESCRIPT = """\
import { Base } from "./base";

export interface Line {
  cents: number;
}

export class Alpha extends Base {
  async total(lines: Line[]): Promise<number> {
    let found = 0;
    for (const line of lines) {
      found += line.cents;
    }
    return found;
  }
}

export const main = (): void => {
  console.log(new Alpha());
};
"""
GO = """\
package main

import "fmt"

type Alpha struct {
\tname string
}

func (a *Alpha) Total(lines []int) int {
\tfound := 0
\tfor _, line := range lines {
\t\tfound += line
\t}
\treturn found
}

func main() {
\tfmt.Println(1)
}
"""
RUST = """\
use std::fmt;

pub struct Alpha {
    name: String,
}

impl Alpha {
    pub fn total(&self, lines: &[u32]) -> u32 {
        let mut found = 0;
        for line in lines {
            found += line;
        }
        found
    }
}
"""
JAVA = """\
package com.shop;

import java.util.List;

public class Alpha {
    private final String name = "alpha";

    public int total(List<Integer> lines) {
        int found = 0;
        for (int line : lines) {
            found += line;
        }
        return found;
    }
}
"""
C = """\
#include <stdio.h>
#define LIMIT 7

int total(const int *lines, int n) {
    int found = 0;
    for (int i = 0; i < n; i++) {
        found += lines[i];
    }
    return found;
}
"""
SOURCES = {"python": PYTHON, "ts": TYPESCRIPT, "go": GO, "rust": RUST, "java": JAVA, "c": C}
HEADS = {
    "python": ["class Alpha(Base):", "    def total(", "    def name(self):", "async def main():"],
    "ts": [
        "export class Alpha extends Base {",
        "  async total(lines: Line[]): Promise<number> {",
        "export const main = (): void => {",
    ],
    "go": ["func (a *Alpha) Total(lines []int) int {", "func main() {"],
    "rust": ["impl Alpha {", "    pub fn total(&self, lines: &[u32]) -> u32 {"],
    "java": ["public class Alpha {", "    public int total(List<Integer> lines) {"],
    "c": ["int total(const int *lines, int n) {"],
}
